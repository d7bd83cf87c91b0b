import { isDeepStrictEqual } from 'node:util';
import type { ModelEvent } from '../../../model/model.ts';
import type { ResponseItem, TurnError } from '../../../protocol/generated/types.ts';
import type { StoredItem } from '../../../store/log-entry.ts';
import { findTool, isToolCall, type ToolCall } from '../../calls/run-tool-call.ts';
import type { PatchPreviews } from '../../items/patch-previews.ts';
import type { ResponseItems } from '../../items/response-items.ts';
import type { Step } from '../../outbox/step.ts';
import { modelEntries } from '../turn-input.ts';
import type { ModelResponse, RequestTools } from './model-response.ts';
import type { RunningTurn } from './running-turn.ts';

const DATE = /^\d{4}-?\d\d-?\d\d$/;

/** A response that is being read. */
export interface ResponseReading extends RequestTools {
  items: ResponseItems;
  previews: PatchPreviews;
  events: AsyncIterable<ModelEvent>;
  signal: AbortSignal;
  made: MadeItems;
}

/**
 * The completed items of a response. `earlier`: the calls of the responses that this one continues.
 */
export interface MadeItems {
  earlier: readonly ToolCall[];
  calls: ToolCall[];
  hasCompleted: boolean;
}

/** Takes one event; returns the response if it ended it, else null. */
export function takeEvent(
  run: RunningTurn,
  event: ModelEvent,
  reading: ResponseReading,
): ModelResponse | null {
  const { items, made } = reading;
  switch (event.type) {
    case 'started':
      return null;
    case 'retrying':
      return retry(run, event, reading);
    case 'answered':
      run.turn.providerState ??= event.turnState;
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
      const counted = run.thread.usage.answered(run.turn, event.usage);
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

/** Tells clients, once in the thread, that another model answers than the one that was asked. */
function noteModel(run: RunningTurn, toModel: string): void {
  const fromModel = run.turn.settings.model;
  if (isOfModel(toModel, fromModel) || !run.thread.news.isNew('model', fromModel, toModel)) return;
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
  if (!run.thread.news.isNew('leftOut', run.turn.settings.model, parameter, message)) return;
  warn(run, message);
}

function warn(run: RunningTurn, message: string): void {
  void commit(run, {
    announce: [{ method: 'warning', params: { threadId: run.thread.id, message } }],
  });
}

/** Whether a name is that of the model, or of a dated version of it. */
function isOfModel(name: string, model: string): boolean {
  const [one, asked] = [name.toLowerCase(), model.toLowerCase()];
  return one === asked || (one.startsWith(`${asked}-`) && DATE.test(one.slice(asked.length + 1)));
}

function idsOf({ thread, turn }: RunningTurn): { threadId: string; turnId: string } {
  return { threadId: thread.id, turnId: turn.id };
}

/** Returns a promise that rejects if the step could not be stored. The sequence has then failed. */
function commit({ thread, sequence }: RunningTurn, step: Step): Promise<void> {
  const stored = thread.outbox.commit(step, sequence);
  stored.catch(() => {});
  return stored;
}

function retryStep({ thread, turn }: RunningTurn, error: TurnError, dropped: StoredItem[]): Step {
  return {
    dropped,
    announce: [
      {
        method: 'error',
        params: { error, willRetry: true, threadId: thread.id, turnId: turn.id },
      },
    ],
  };
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
