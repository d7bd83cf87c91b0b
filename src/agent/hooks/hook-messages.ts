import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';

/** The context that hooks give, as messages for the model. */
export function hookMessages(contexts: readonly string[]): ResponseItem[] {
  return contexts.map((context) => contextMessage('developer', [context]));
}
