import { orAborted } from '../../base/or-aborted.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import type { Tool } from '../../tools/tool.ts';
import { isToolCall, type ToolCall } from '../calls/run-tool-calls.ts';
import { PatchPreviews } from '../items/patch-previews.ts';
import { RepeatedItems } from '../items/repeated-items.ts';
import { ResponseItems } from '../items/response-items.ts';
import type { Step } from '../step.ts';
import { responseLimits } from './response-limits.ts';
import { otherError, type RunningTurn } from './turn-deps.ts';
import type { EndedResponse } from './turn-part.ts';

/** The longest response that is taken from a model, in characters of its deltas. */
const RESPONSE_CHARS_MAX = 32 * 1024 * 1024;
/** The most items in one response. Even short ones are stored and shown. */
const RESPONSE_ITEMS_MAX = 1_000;

/** A whole response. `responseId`: the provider's id; null: it has none. */
export interface CompletedResponse {
  ended: 'completed';
  calls: ToolCall[];
  usage: TokenUsageBreakdown | null;
  responseId: string | null;
}

/** How one model request ended. `stopped`: by an interrupt or by new input. */
type ModelResponse = CompletedResponse | { ended: 'stopped' } | { ended: 'failed'; error: TurnError };

/**
 * Sends one request to the model and shows its response to clients, as `run.response`. Its items may not be stored yet when it
 * resolves. Rejects if the model throws, or if the store has failed.
 */
export async function askModel(run: RunningTurn, tools: readonly Tool[]): Promise<ModelResponse> {
  const { deps, turn, conversation } = run;
  const prepared = await conversation.request(turn, tools);
  if ('message' in prepared) return { ended: 'failed', error: prepared };
  const signal = AbortSignal.any([turn.beginRequest(), run.sequence.signal]);
  const items = new ResponseItems({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    outbox: deps.outbox,
    sequence: run.sequence,
    newId: () => deps.newId(),
    searchItemId: (modelId) => (turn.kind === 'review' ? deps.newId() : deps.calls.searchItemId(modelId)),
    shownReasoning: deps.shownReasoning,
    planMode: turn.settings.collaborationMode.mode === 'plan',
    withoutOwn: conversation.withoutOwn,
    showsMessages: conversation.showsMessages,
    onMessage: (item) => {
      run.lastMessage = item;
    },
  });
  const previews = new PatchPreviews({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    announce: (announcement) => deps.outbox.announceDelta(announcement, run.sequence),
  });
  run.response = items;
  try {
    return await readEvents(run, { items, previews, events: deps.model.stream(prepared.request, signal), signal });
  } finally {
    turn.endRequest();
    prepared.end();
    items.end();
  }
}

/** The end of a response, as the parts of the turn see it. */
export function endedResponse(response: ModelResponse): EndedResponse {
  const usage = response.ended === 'completed' ? response.usage : null;
  if (response.ended === 'failed') return { status: 'failed', error: response.error, usage };
  return { status: response.ended === 'completed' ? 'completed' : 'interrupted', error: null, usage };
}

interface ResponseReading {
  items: ResponseItems;
  previews: PatchPreviews;
  events: AsyncIterable<ModelEvent>;
  signal: AbortSignal;
}

async function readEvents(run: RunningTurn, { items, previews, events, signal }: ResponseReading): Promise<ModelResponse> {
  const { outbox, drained } = run.deps;
  const calls: ToolCall[] = [];
  const exceededBy = responseLimits({ charsMax: RESPONSE_CHARS_MAX, bytesMax: null, itemsMax: RESPONSE_ITEMS_MAX });
  const repeated = new RepeatedItems();
  for await (const event of events) {
    if (signal.aborted) break;
    const limit = exceededBy(event);
    if (limit !== null) return { ended: 'failed', error: tooLong(limit) };
    const ended = takeAll(run, repeated.take(event), { items, previews, calls });
    if (ended !== null) return ended;
    const backlog = outbox.caughtUp() ?? drained();
    if (backlog !== null) await orAborted(backlog, signal);
  }
  if (run.sequence.failure !== null) throw run.sequence.failure.error;
  if (!signal.aborted) return { ended: 'failed', error: otherError('The response stopped before it was complete.') };
  return { ended: 'stopped' };
}

interface Taking {
  items: ResponseItems;
  previews: PatchPreviews;
  calls: ToolCall[];
}

function takeAll(run: RunningTurn, events: readonly ModelEvent[], taking: Taking): ModelResponse | null {
  for (const event of events) {
    const ended = take(run, event, taking);
    if (ended !== null) return ended;
  }
  return null;
}

/** Takes one event; returns the response if it ended it, else null. */
function take(run: RunningTurn, event: ModelEvent, { items, previews, calls }: Taking): ModelResponse | null {
  switch (event.type) {
    case 'started':
      return null;
    case 'retrying':
      calls.length = 0;
      previews.drop();
      commit(run, retryStep(run, event.error, items.drop()));
      return null;
    case 'callDelta':
      previews.take(event);
      return null;
    case 'completed': {
      const counted = run.deps.tokensStep(run.turn, event.usage);
      if (counted !== null) commit(run, counted);
      return { ended: 'completed', calls, usage: event.usage, responseId: event.responseId ?? null };
    }
    case 'failed':
      return { ended: 'failed', error: event.error };
    case 'itemCompleted':
      if (isToolCall(event.item)) {
        previews.complete(event.item.call_id);
        calls.push(event.item);
      } else if (isKnown(event.item)) {
        if (event.item.type.endsWith('_call')) run.acted = true;
        items.take(event);
      }
      return null;
    default:
      items.take(event);
      return null;
  }
}

function commit({ deps, sequence }: RunningTurn, step: Step): void {
  deps.outbox.commit(step, sequence).catch(() => {});
}

function retryStep({ deps, turn }: RunningTurn, error: TurnError, dropped: StoredItem[]): Step {
  return { dropped, announce: [{ method: 'error', params: { error, willRetry: true, threadId: deps.threadId, turnId: turn.id } }] };
}

function tooLong(limit: string): TurnError {
  return otherError(`The model's response exceeded the limit of ${limit} and was stopped.`);
}

/** The items other than tool calls that are kept in the history. Others are unknown to this server, and ignored. */
const KNOWN = new Set<ResponseItem['type']>(['message', 'reasoning', 'web_search_call', 'image_generation_call', 'compaction']);

function isKnown(item: ResponseItem): boolean {
  return KNOWN.has(item.type);
}
