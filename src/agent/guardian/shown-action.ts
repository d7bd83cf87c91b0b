import { cutText } from '../../base/text/cut-text.ts';
import type { GuardianApprovalReviewAction } from '../../protocol/generated/types.ts';

/** The longest command or input that is shown beside a review and kept with its item. */
const TEXT_CHARS_MAX = 8_000;

/**
 * The action as clients see it. An item can have many reviews, so long texts are cut, and say so.
 */
export function shownAction(action: GuardianApprovalReviewAction): GuardianApprovalReviewAction {
  if (action.type !== 'command') return action;
  return {
    ...action,
    command: shortened(action.command),
    stdin: action.stdin === null ? null : shortened(action.stdin),
  };
}

function shortened(text: string): string {
  return text.length > TEXT_CHARS_MAX
    ? `${cutText(text, TEXT_CHARS_MAX)} [… ${text.length - TEXT_CHARS_MAX} characters left out …]`
    : text;
}
