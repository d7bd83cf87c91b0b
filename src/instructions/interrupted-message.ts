import type { ResponseItem } from '../protocol/generated/types.ts';
import { contextMessage } from './context-message.ts';

/** Tells the model that the user interrupted the previous turn, so that the model does not assume that its work is finished. */
export function interruptedMessage(): ResponseItem {
  return contextMessage('user', [
    '<turn_interrupted>\nThe user interrupted the previous turn. Its work may be done only in part: check before you rely on it.\n</turn_interrupted>',
  ]);
}
