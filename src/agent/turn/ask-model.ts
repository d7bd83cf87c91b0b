import { isDeepStrictEqual } from 'node:util';
import { orAborted } from '../../base/or-aborted.ts';
import type { ModelEvent, ModelRequest } from '../../model/model.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResponseCalls } from '../calls/response-calls.ts';
import { findTool, isToolCall, type ToolCall } from '../calls/run-tool-call.ts';
import { PatchPreviews } from '../items/patch-previews.ts';
import { ResponseItems } from '../items/response-items.ts';
import type { Step } from '../outbox/step.ts';
import { responseLimits } from './response-limits.ts';
import { otherError, type RunningTurn } from './turn-deps.ts';
import { modelEntries } from './turn-input.ts';

/** The longest response that is taken from a model, in characters of its deltas. */
const RESPONSE_CHARS_MAX = 32 * 1024 * 1024;
/** The most items in one response. Even short ones are stored and shown. */
const RESPONSE_ITEMS_MAX = 1_000;
const DATE = /^\d{4}-?\d\d-?\d\d$/;

/** A whole response. `responseId`: the provider's id; null: it has none. */
export interface CompletedResponse {
  ended: 'completed';
  /** Whether the model has called a tool. */
  hasCalls: boolean;
  usage: TokenUsageBreakdown | null;
  responseId: string | null;
}

/**
 * How one model request ended. `stopped`: by an interrupt or by new input. `broken`: the response
 * broke off after items of it were complete, and the next request, after `delayMs`, continues
 * `run.broken`.
 */
export type ModelResponse =
  | CompletedResponse
  | { ended: 'stopped' }
  | { ended: 'broken'; delayMs: number }
  | { ended: 'failed'; error: TurnError };

/** The tools that a request to the model offers, and the calls of its response. */
export interface RequestTools {
  tools: readonly Tool[];
  calls: ResponseCalls;
}

/**
 * Sends one request to the model, shows its response to clients, as `run.response`, and begins its
 * calls, each as soon as it is complete and stored. Its items may not be stored yet when it
 * resolves. Rejects if the model throws, or if the store has failed.
 */
export async function askModel(
  run: RunningTurn,
  { tools, calls }: RequestTools,
): Promise<ModelResponse> {
  const { deps, turn, conversation, broken } = run;
  run.broken = null;
  const prepared = await conversation.request(turn, tools);
  if ('message' in prepared) return { ended: 'failed', error: prepared };
  const request = sentRequest(run, prepared.request, broken);
  const signal = AbortSignal.any([turn.beginRequest(), run.sequence.signal]);
  const items = new ResponseItems({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    outbox: deps.outbox,
    sequence: run.sequence,
    newId: () => deps.newId(),
    searchItemId: (modelId) =>
      turn.kind === 'review' ? deps.newId() : deps.calls.searchItemId(modelId),
    shownReasoning: deps.shownReasoning,
    planMode: turn.settings.collaborationMode.mode === 'plan',
    withoutOwn: conversation.withoutOwn,
    showsMessages: conversation.showsMessages,
    onMessage: (item) => {
      run.lastMessage = item;
    },
    shownBefore: broken?.shownBefore ?? null,
  });
  const previews = new PatchPreviews({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    announce: (announcement) => deps.outbox.announceDelta(announcement, run.sequence),
  });
  run.response = items;
  try {
    const made: MadeItems = { earlier: broken?.calls ?? [], calls: [], hasCompleted: false };
    return await readEvents(run, {
      items,
      previews,
      tools,
      calls,
      made,
      events: deps.model.stream(request, signal),
      signal,
    });
  } finally {
    turn.endRequest();
    prepared.end();
    items.end();
  }
}

/** The request with who asks, and with what has come of the turn's earlier requests. */
function sentRequest(
  run: RunningTurn,
  prepared: ModelRequest,
  broken: RunningTurn['broken'],
): ModelRequest {
  const { deps, turn, turnState } = run;
  const { headers, clientMetadata } = deps.identity(turn);
  return {
    ...prepared,
    headers: { ...headers, ...(turnState === null ? {} : { 'x-codex-turn-state': turnState }) },
    clientMetadata,
    ...(broken?.retries === undefined ? {} : { retries: broken.retries }),
  };
}

/** Tells clients, once in the thread, that another model answers than the one that was asked. */
function noteModel(run: RunningTurn, toModel: string): void {
  const fromModel = run.turn.settings.model;
  if (isOfModel(toModel, fromModel) || !run.deps.isNews(['model', fromModel, toModel])) return;
  const params = { ...idsOf(run), fromModel, toModel, reason: 'highRiskCyberActivity' as const };
  void commit(run, { announce: [{ method: 'model/rerouted', params }] });
}

/**
 * Tells clients, once in the thread, that a parameter was left out. Another message about it is
 * news only if another value was refused.
 */
function noteLeftOut(
  run: RunningTurn,
  { parameter, message }: Extract<ModelEvent, { type: 'leftOut' }>,
): void {
  if (!run.deps.isNews(['leftOut', run.turn.settings.model, parameter, message])) return;
  warn(run, message);
}

function warn(run: RunningTurn, message: string): void {
  void commit(run, {
    announce: [{ method: 'warning', params: { threadId: run.deps.threadId, message } }],
  });
}

/** Whether a name is that of the model, or of a dated version of it. */
function isOfModel(name: string, model: string): boolean {
  const [one, asked] = [name.toLowerCase(), model.toLowerCase()];
  return one === asked || (one.startsWith(`${asked}-`) && DATE.test(one.slice(asked.length + 1)));
}

function idsOf({ deps, turn }: RunningTurn): { threadId: string; turnId: string } {
  return { threadId: deps.threadId, turnId: turn.id };
}

interface ResponseReading extends RequestTools {
  items: ResponseItems;
  previews: PatchPreviews;
  events: AsyncIterable<ModelEvent>;
  signal: AbortSignal;
  made: MadeItems;
}

/**
 * The completed items of a response. `earlier`: the calls of the responses that this one continues.
 */
interface MadeItems {
  earlier: readonly ToolCall[];
  calls: ToolCall[];
  hasCompleted: boolean;
}

async function readEvents(run: RunningTurn, reading: ResponseReading): Promise<ModelResponse> {
  const { outbox, drained } = run.deps;
  const { signal } = reading;
  const exceededBy = responseLimits({
    charsMax: RESPONSE_CHARS_MAX,
    bytesMax: null,
    itemsMax: RESPONSE_ITEMS_MAX,
  });
  for await (const event of reading.events) {
    if (signal.aborted) break;
    const limit = exceededBy(event);
    if (limit !== null) return { ended: 'failed', error: tooLong(limit) };
    const ended = take(run, event, reading);
    if (ended !== null) return ended;
    const unstored = outbox.caughtUp();
    if (unstored !== null) await orAborted(unstored, signal);
    const unread = drained();
    if (unread !== null) await orAborted(unread, signal);
  }
  if (run.sequence.failure !== null) throw run.sequence.failure.error;
  if (!signal.aborted)
    return { ended: 'failed', error: otherError('The response stopped before it was complete.') };
  return { ended: 'stopped' };
}

/** Takes one event; returns the response if it ended it, else null. */
function take(run: RunningTurn, event: ModelEvent, reading: ResponseReading): ModelResponse | null {
  const { items, made } = reading;
  switch (event.type) {
    case 'started':
      return null;
    case 'retrying':
      return retry(run, event, reading);
    case 'answered':
      run.turnState ??= event.turnState;
      if (event.model !== null) noteModel(run, event.model);
      return null;
    case 'leftOut':
      noteLeftOut(run, event);
      return null;
    case 'saidNothing':
      warn(run, event.message);
      return null;
    case 'moderated':
      void commit(run, {
        announce: [
          {
            method: 'turn/moderationMetadata',
            params: { ...idsOf(run), metadata: event.metadata },
          },
        ],
      });
      return null;
    case 'callDelta':
      reading.previews.take(event);
      return null;
    case 'completed': {
      const counted = run.deps.tokensStep(run.turn, event.usage);
      if (counted !== null) void commit(run, counted);
      return {
        ended: 'completed',
        hasCalls: made.calls.length > 0,
        usage: event.usage,
        responseId: event.responseId ?? null,
      };
    }
    case 'failed':
      return { ended: 'failed', error: event.error };
    case 'itemCompleted':
      if (isToolCall(event.item)) {
        call(run, event.item, reading);
      } else if (isKnown(event.item)) {
        made.hasCompleted = true;
        if (event.item.type.endsWith('_call')) run.acted = true;
        items.take(event);
      }
      return null;
    default:
      items.take(event);
      return null;
  }
}

/**
 * Stores a call, and then runs it. One that only repeats a call of the responses that this one
 * continues has run.
 */
function call(
  run: RunningTurn,
  item: ToolCall,
  { tools, calls, previews, made }: ResponseReading,
): void {
  previews.complete(item.call_id);
  made.hasCompleted = true;
  made.calls.push(item);
  if (made.earlier.some((earlier) => isSameCall(earlier, item))) return;
  if (findTool(tools, item)?.onlyRecords !== true) run.acted = true;
  calls.begin(
    item,
    commit(run, { entries: run.conversation.withoutOwn(modelEntries(run.turn.id, [item], null)) }),
  );
}

/**
 * Continues the response by another request if items of it are complete. Otherwise the model sends
 * the same request again.
 */
function retry(
  run: RunningTurn,
  { error, delayMs, spent }: Extract<ModelEvent, { type: 'retrying' }>,
  { items, previews, made }: ResponseReading,
): ModelResponse | null {
  previews.drop();
  void commit(run, retryStep(run, error, items.drop()));
  if (!made.hasCompleted) return null;
  run.broken = {
    calls: [...made.earlier, ...made.calls],
    shownBefore: items.shownBefore,
    retries: spent,
  };
  return { ended: 'broken', delayMs };
}

/** Returns a promise that rejects if the step could not be stored. The sequence has then failed. */
function commit({ deps, sequence }: RunningTurn, step: Step): Promise<void> {
  const stored = deps.outbox.commit(step, sequence);
  stored.catch(() => {});
  return stored;
}

function retryStep({ deps, turn }: RunningTurn, error: TurnError, dropped: StoredItem[]): Step {
  return {
    dropped,
    announce: [
      {
        method: 'error',
        params: { error, willRetry: true, threadId: deps.threadId, turnId: turn.id },
      },
    ],
  };
}

function tooLong(limit: string): TurnError {
  return otherError(`The model's response exceeded the limit of ${limit} and was stopped.`);
}

/**
 * The items other than tool calls that are kept in the history. Others are unknown to this server,
 * and ignored.
 */
const KNOWN = new Set<ResponseItem['type']>([
  'message',
  'reasoning',
  'web_search_call',
  'image_generation_call',
  'compaction',
]);

function isKnown(item: ResponseItem): boolean {
  return KNOWN.has(item.type);
}

function isSameCall({ id: _, ...one }: ToolCall, { id: __, ...other }: ToolCall): boolean {
  return isDeepStrictEqual(one, other);
}
