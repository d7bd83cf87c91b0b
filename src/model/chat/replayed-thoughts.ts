import type { OptionalParameter } from '../http/parameters/optional-parameter.ts';
import type { SentSettings } from '../http/parameters/sent-settings.ts';

const WITHOUT_THOUGHTS = 'messages, without reasoning_content';

/**
 * The form in which a model's earlier messages are sent back at first: without their reasoning,
 * because many servers refuse the field or count its tokens. Models such as DeepSeek's and Kimi's
 * want it in each of them.
 */
export const REPLAYED_THOUGHTS: readonly OptionalParameter[] = [
  {
    name: WITHOUT_THOUGHTS,
    named: /\breasoning_content\b/i,
    value: ({ input }) =>
      input.some(
        (item) =>
          item.type.endsWith('_call') || (item.type === 'message' && item.role === 'assistant'),
      ) || undefined,
    loss: null,
  },
];

/** Whether the model's earlier messages are sent with their reasoning. */
export function sendsThoughts({ leftOut }: Pick<SentSettings, 'leftOut'>): boolean {
  return leftOut.has(WITHOUT_THOUGHTS);
}
