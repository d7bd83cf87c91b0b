import type { ResponseItem } from '../../protocol/generated/types.ts';
import { contextMessage, escapeTags } from './context-message.ts';

const OPEN = '<review>';

/**
 * Tells the model of a thread how a review of its user ended. `hint` names the target of the
 * review.
 */
export function reviewMessage(
  hint: string,
  ended: { report: string } | 'interrupted' | 'failed',
): ResponseItem {
  const begin = `The user started a review of: ${escapeTags(hint)}.`;
  if (typeof ended === 'string')
    return contextMessage('user', [
      `${OPEN}\n${begin} It has no result, because it ${WHY[ended]}.\n</review>`,
    ]);
  return contextMessage('user', [
    `${OPEN}\n${begin} The reviewer reported:\n\n${escapeTags(ended.report)}\n</review>`,
  ]);
}

const WHY = { interrupted: 'was interrupted', failed: 'failed' };
