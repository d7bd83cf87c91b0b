import type { Model, ModelEvent, ModelRequest } from '../../model/model.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../../protocol/generated/types.ts';
import { rolloutMessageText } from '../../rollout/begin-item.ts';
import { responseLimits } from '../items/response-limits.ts';

/** The longest answer that is read. */
const LIMITS = { charsMax: 1_000_000, bytesMax: 4_000_000, itemsMax: 1_000 };

/** The answer to a request aside. `usage` is null where the provider does not tell it. */
export type AsideAnswer =
  | {
      items: ResponseItem[];
      text: string;
      usage: TokenUsageBreakdown | null;
      responseId: string | null;
    }
  /** The model failed, or the signal aborted: `error` is null then. */
  | { error: TurnError | null };

/**
 * Sends one request to a model outside of a thread's conversation: clients see nothing of it, and
 * nothing is stored. Resolves with the completed items, and the text of the messages among them.
 * Never rejects: a model that throws has failed.
 */
export async function askAside(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<AsideAnswer> {
  try {
    return await read(model.stream(request, signal));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

async function read(events: AsyncIterable<ModelEvent>): Promise<AsideAnswer> {
  const exceededBy = responseLimits(LIMITS);
  const items: ResponseItem[] = [];
  for await (const event of events) {
    const limit = exceededBy(event);
    if (limit !== null)
      return failure(`The model's answer exceeded the limit of ${limit} and was stopped.`);
    if (event.type === 'itemCompleted') items.push(event.item);
    else if (event.type === 'retrying') items.length = 0;
    else if (event.type === 'failed') return { error: event.error };
    else if (event.type === 'completed') return answered(items, event);
  }
  return { error: null };
}

function answered(
  items: ResponseItem[],
  { usage, responseId }: Extract<ModelEvent, { type: 'completed' }>,
): AsideAnswer {
  return { items, text: textOf(items), usage, responseId: responseId ?? null };
}

function failure(message: string): { error: TurnError } {
  return { error: { message, codexErrorInfo: 'other', additionalDetails: null } };
}

function textOf(items: readonly ResponseItem[]): string {
  return items.map((item) => (item.type === 'message' ? rolloutMessageText(item) : '')).join('');
}
