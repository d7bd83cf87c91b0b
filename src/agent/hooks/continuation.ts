import { contextMessage, escapeTags } from '../../instructions/messages/context-message.ts';
import type { ResponseItem, UntimedItem } from '../../protocol/generated/types.ts';

/** The item and the message for the model with which hooks go on with a turn. */
export function continuation(
  itemId: string,
  reasons: readonly { reason: string; runId: string }[],
): { item: UntimedItem; tell: ResponseItem[] } {
  const fragments = reasons.map(({ reason, runId }) => ({ text: reason, hookRunId: runId }));
  const texts = fragments.map(
    ({ text, hookRunId }) =>
      `<hook_prompt hook_run_id="${attribute(hookRunId)}">${text}</hook_prompt>`,
  );
  return {
    item: { type: 'hookPrompt', id: itemId, fragments },
    tell: [contextMessage('user', texts)],
  };
}

function attribute(text: string): string {
  return escapeTags(text).replaceAll('"', '&quot;');
}
