import { orAborted } from '../../base/or-aborted.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import type { Tool } from '../../tools/tool.ts';
import { isToolCall, type ToolCall } from '../calls/run-tool-calls.ts';
import { PatchPreviews } from '../items/patch-previews.ts';
import { RepeatedItems } from '../items/repeated-items.ts';
import { ResponseItems } from '../items/response-items.ts';
import { otherError, type RunningTurn } from './turn-deps.ts';

/** The longest response that is taken from a model, in characters of its deltas. */
const RESPONSE_CHARS_MAX = 32 * 1024 * 1024;
/** The most items in one response. Even short ones are stored and shown. */
const RESPONSE_ITEMS_MAX = 1_000;

/** How one model request ended. `stopped`: by an interrupt or by new input. */
type ModelResponse =
  | { ended: 'completed'; calls: ToolCall[] }
  | { ended: 'stopped'; cutOff: StoredItem[] }
  | { ended: 'failed'; error: TurnError; cutOff: StoredItem[] };

/** Sends one request to the model and shows its response to clients. Rejects if the store fails or the model throws. */
export async function askModel(run: RunningTurn, tools: readonly Tool[]): Promise<ModelResponse> {
  const { deps, turn } = run;
  const request = await deps.request(turn, tools);
  const signal = turn.beginRequest();
  const items = new ResponseItems({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    outbox: deps.outbox,
    announce: (announcement) => deps.announce(announcement),
    newId: () => deps.newId(),
    shownReasoning: deps.shownReasoning,
    planMode: turn.settings.collaborationMode.mode === 'plan',
    onMessage: (item) => {
      run.lastMessage = item;
    },
  });
  const previews = new PatchPreviews({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    announce: (announcement) => deps.announce(announcement),
  });
  try {
    return await readEvents(run, { items, previews, events: deps.model.stream(request, signal), signal });
  } catch (error) {
    run.cutOff = items.openItems();
    throw error;
  } finally {
    turn.endRequest();
    items.drop();
  }
}

interface ResponseReading {
  items: ResponseItems;
  previews: PatchPreviews;
  events: AsyncIterable<ModelEvent>;
  signal: AbortSignal;
}

async function readEvents(run: RunningTurn, { items, previews, events, signal }: ResponseReading): Promise<ModelResponse> {
  const calls: ToolCall[] = [];
  const exceededBy = responseLimits();
  const repeated = new RepeatedItems();
  for await (const event of events) {
    if (signal.aborted) break;
    const limit = exceededBy(event);
    if (limit !== null) return { ended: 'failed', error: tooLong(limit), cutOff: items.openItems() };
    const taken = takeAll(run, repeated.take(event), { items, previews, calls });
    const ended = taken instanceof Promise ? await taken : taken;
    if (ended !== null) return ended;
    const backlog = run.deps.drained();
    if (backlog !== null) await orAborted(backlog, signal);
  }
  if (!signal.aborted)
    return { ended: 'failed', error: otherError('The response stopped before it was complete.'), cutOff: items.openItems() };
  return { ended: 'stopped', cutOff: items.openItems() };
}

/** Returns a function that counts the events of a response, and names the limit that an event exceeds; null: none. */
function responseLimits(): (event: ModelEvent) => string | null {
  let chars = 0;
  let begun = 0;
  let completed = 0;
  return (event) => {
    if (event.type === 'retrying') [chars, begun, completed] = [0, 0, 0];
    else if ('delta' in event) chars += event.delta.length;
    else if (event.type === 'itemStarted') begun++;
    else if (event.type === 'itemCompleted') completed++;
    if (chars > RESPONSE_CHARS_MAX) return `${RESPONSE_CHARS_MAX} characters`;
    return Math.max(begun, completed) > RESPONSE_ITEMS_MAX ? `${RESPONSE_ITEMS_MAX} items` : null;
  };
}

interface Taking {
  items: ResponseItems;
  previews: PatchPreviews;
  calls: ToolCall[];
}

function takeAll(run: RunningTurn, events: readonly ModelEvent[], taking: Taking): ReturnType<typeof take> {
  const [first] = events;
  // Almost always there is exactly one.
  return first !== undefined && events.length === 1 ? take(run, first, taking) : takeInTurn(run, events, taking);
}

async function takeInTurn(run: RunningTurn, events: readonly ModelEvent[], taking: Taking): Promise<ModelResponse | null> {
  for (const event of events) {
    const ended = await take(run, event, taking);
    if (ended !== null) return ended;
  }
  return null;
}

/** Takes one event; returns the response if it ended it, else null. Returns a promise only if it has to wait: deltas are many. */
function take(
  run: RunningTurn,
  event: ModelEvent,
  { items, previews, calls }: Taking,
): ModelResponse | null | Promise<ModelResponse | null> {
  switch (event.type) {
    case 'started':
      return null;
    case 'retrying':
      calls.length = 0;
      previews.drop();
      return announceRetry(run, event.error, items.drop());
    case 'callDelta':
      previews.take(event);
      return null;
    case 'completed':
      return complete(run, event.usage, calls);
    case 'failed':
      return { ended: 'failed', error: event.error, cutOff: items.openItems() };
    case 'itemCompleted':
      if (isToolCall(event.item)) {
        previews.complete(event.item.call_id);
        calls.push(event.item);
      } else if (isKnown(event.item)) {
        if (event.item.type.endsWith('_call')) run.acted = true;
        return items.take(event)?.then(() => null) ?? null;
      }
      return null;
    default:
      return items.take(event)?.then(() => null) ?? null;
  }
}

async function announceRetry({ deps, turn }: RunningTurn, error: TurnError, dropped: StoredItem[]): Promise<null> {
  await deps.outbox.commit({
    dropped,
    announce: [{ method: 'error', params: { error, willRetry: true, threadId: deps.threadId, turnId: turn.id } }],
  });
  return null;
}

async function complete({ deps, turn }: RunningTurn, usage: TokenUsageBreakdown | null, calls: ToolCall[]): Promise<ModelResponse> {
  if (usage !== null) await deps.outbox.commit(deps.tokensStep(turn, usage));
  return { ended: 'completed', calls };
}

function tooLong(limit: string): TurnError {
  return otherError(`The model's response exceeded the limit of ${limit} and was stopped.`);
}

/** The items other than tool calls that are kept in the history. Others are unknown to this server, and ignored. */
const KNOWN = new Set<ResponseItem['type']>(['message', 'reasoning', 'web_search_call', 'image_generation_call', 'compaction']);

function isKnown(item: ResponseItem): boolean {
  return KNOWN.has(item.type);
}
