import { visibleJson } from '../../base/text/visible-json.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { LoggedReview } from './review-log.ts';
import { APPROVAL_TAG } from './transcript.ts';

/**
 * Tells the model, and later the guardian, that the user approves a denied action. Names the action
 * by its hash and its call, because the action may be left out or cut later. No text of the action
 * can end the message.
 */
export function approvalMessage({
  targetItemId,
  planned,
  review: { action, actionHash },
}: LoggedReview): ResponseItem {
  const approved = { actionHash, call: targetItemId, action: planned ?? action };
  return contextMessage('developer', [
    `${APPROVAL_TAG}\nThe user has looked at this action, which the automatic reviewer had denied, and approves it. You may do exactly this, once, with nothing changed. ${planned === null ? OF_CALL : ''}The approval is for no other action.\n${visibleJson(approved).replaceAll('<', '\\u003c')}\n</approved_action>`,
  ]);
}

const OF_CALL = 'Not all of the action is shown here: it is the one of the call that is named. ';
