import { messageText } from '../../message-text.ts';
import type { ModelRequest } from '../../model.ts';

/**
 * Says that an answer has neither text nor calls, for people. `label`: the provider's. Null: that
 * is expected, since the model has said something after the last message of the user, and may have
 * nothing to add after its calls.
 */
export function emptyAnswer(
  request: ModelRequest,
  { label, hasReasoned }: { label: string; hasReasoned: boolean },
): string | null {
  if (hasSpoken(request)) return null;
  const what = hasReasoned
    ? 'ended its answer after reasoning, without text or a call'
    : 'gave an empty answer, without text or a call';
  return `${label} ${what}. Ask again, or choose another model.`;
}

function hasSpoken({ input }: ModelRequest): boolean {
  const last = input.findLast(
    (item) =>
      item.type === 'message' &&
      (item.role === 'user' || (item.role === 'assistant' && messageText(item).trim() !== '')),
  );
  return last?.type === 'message' && last.role === 'assistant';
}
