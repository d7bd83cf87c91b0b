import { contextMessage } from '../../instructions/context-message.ts';
import type { ItemApprovalReview, ResponseItem } from '../../protocol/generated/types.ts';
import { APPROVAL_TAG, visibleJson } from './transcript.ts';

/** Tells the model, and later the guardian, that the user approves a denied action. No text of the action can end the message. */
export function approvalMessage({ action }: ItemApprovalReview): ResponseItem {
  const shown = visibleJson({ ...action }).replaceAll('<', '\\u003c');
  return contextMessage('developer', [
    `${APPROVAL_TAG}\nThe user has looked at this action, which the automatic reviewer had denied, and approves it. You may do exactly this, once:\n${shown}\n</approved_action>`,
  ]);
}
