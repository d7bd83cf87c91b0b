import type { Model, ModelEvent, ModelRequest } from '../../model/model.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import { messageText } from '../../rollout/begin-item.ts';

/** The longest answer that is read, in characters of its deltas. */
const ANSWER_CHARS_MAX = 1_000_000;

/** The answer to a request aside. `usage` is null where the provider does not tell it. */
export type AsideAnswer =
  | { items: ResponseItem[]; text: string; usage: TokenUsageBreakdown | null; responseId: string | null }
  /** The model failed, or the signal aborted: `error` is null then. */
  | { error: TurnError | null };

/**
 * Sends one request to a model outside of a thread's conversation: clients see nothing of it, and nothing is stored. Resolves with the
 * completed items, and the text of the messages among them. Never rejects.
 */
export async function askAside(model: Model, request: ModelRequest, signal: AbortSignal): Promise<AsideAnswer> {
  const items: ResponseItem[] = [];
  let chars = 0;
  for await (const event of model.stream(request, signal)) {
    if (event.type === 'retrying') chars = 0;
    else if ('delta' in event) chars += event.delta.length;
    if (chars > ANSWER_CHARS_MAX) return { error: tooLong() };
    if (event.type === 'itemCompleted') items.push(event.item);
    else if (event.type === 'retrying') items.length = 0;
    else if (event.type === 'failed') return { error: event.error };
    else if (event.type === 'completed') return answered(items, event);
  }
  return { error: null };
}

function answered(items: ResponseItem[], { usage, responseId }: Extract<ModelEvent, { type: 'completed' }>): AsideAnswer {
  return { items, text: textOf(items), usage, responseId: responseId ?? null };
}

function tooLong(): TurnError {
  const message = `The model's answer exceeded the limit of ${ANSWER_CHARS_MAX} characters and was stopped.`;
  return { message, codexErrorInfo: 'other', additionalDetails: null };
}

function textOf(items: readonly ResponseItem[]): string {
  return items.map((item) => (item.type === 'message' ? messageText(item) : '')).join('');
}
