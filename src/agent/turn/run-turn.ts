import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, TurnError } from '../../protocol/generated/types.ts';
import { settleItem } from '../../store/settle-item.ts';
import { StoreError } from '../../store/store-error.ts';
import type { LogEntry, StoredItem } from '../../store/thread-store.ts';
import { isGoalTool } from '../../tools/goal-tools.ts';
import { runToolCalls, type ToolCall, toolName } from '../calls/run-tool-calls.ts';
import type { GoalStep } from '../goal/goal-keeper.ts';
import type { Step } from '../outbox.ts';
import type { ActiveTurn, Arrival } from './active-turn.ts';
import { askModel } from './ask-model.ts';
import { otherError, type RunningTurn, type TurnDeps, type TurnOpening } from './turn-deps.ts';
import { modelEntries } from './turn-input.ts';
import { turnView } from './turn-view.ts';

/** How often one turn may ask the model: a bound for models that never stop calling tools. */
const MODEL_REQUESTS_MAX = 1000;

/** Told to the model after a turn that a user stopped, so that it does not take what it did for finished. */
const INTERRUPTED_NOTE =
  '<turn_interrupted>\nThe user interrupted the previous turn. What was under way may be done in part: check before you rely on it.\n</turn_interrupted>';

/** How a turn ended, with what had begun in it and not completed. */
type Outcome =
  | { status: 'completed' }
  | { status: 'interrupted'; cutOff: StoredItem[] }
  | { status: 'failed'; error: TurnError; cutOff: StoredItem[] };

/**
 * Runs a turn to its end: ask the model, run the tools that it calls, ask again, until it calls none. Never rejects:
 * whatever goes wrong is the turn's outcome, and exactly one `turn/completed` tells it. With an `opening` the turn begins
 * with that, and may end with it.
 */
export async function runTurn(host: TurnDeps, turn: ActiveTurn, opening: TurnOpening | null): Promise<void> {
  const run: RunningTurn = { host, turn, lastMessage: null, acted: false, cutOff: [], runningOn: [] };
  let outcome: Outcome;
  try {
    await begin(run);
    outcome = opening === null ? await converse(run) : await openWith(run, opening);
  } catch (error) {
    outcome = { status: 'failed', error: unexpected(error, host), cutOff: run.cutOff };
  }
  await finish(run, outcome);
  host.log.info(
    { threadId: host.threadId, turnId: turn.id, status: outcome.status, ms: host.clock.now() - turn.startedAtMs },
    'turn ended',
  );
  turn.markFinished();
}

async function begin({ host, turn }: RunningTurn): Promise<void> {
  await host.outbox.commit(host.statusStep('active'));
  const started = turnView({ id: turn.id, status: 'inProgress', startedAtMs: turn.startedAtMs });
  await host.outbox.commit({ announce: [{ method: 'turn/started', params: { threadId: host.threadId, turn: started } }] });
}

/** Does what comes before the model is asked, and asks it only where somebody has given it something meanwhile. */
async function openWith(run: RunningTurn, opening: TurnOpening): Promise<Outcome> {
  await opening(run.turn);
  return (await ended(run)) ?? converse(run);
}

/** The outcome of a turn that has nothing left to do; null: there is more. */
async function ended({ turn }: RunningTurn): Promise<Outcome | null> {
  if (!(await turn.closeUnlessInput())) return null;
  return turn.signal.aborted ? { status: 'interrupted', cutOff: [] } : { status: 'completed' };
}

async function converse(run: RunningTurn): Promise<Outcome> {
  for (let requests = 0; requests < MODEL_REQUESTS_MAX; requests++) {
    const outcome = await step(run);
    if (outcome !== null) return outcome;
  }
  return { status: 'failed', error: otherError(`The turn asked the model ${MODEL_REQUESTS_MAX} times and came to no end.`), cutOff: [] };
}

/** Asks the model once and does what it says. Null: there is more to ask. */
async function step(run: RunningTurn): Promise<Outcome | null> {
  const { turn } = run;
  await announceInputs(run, await turn.takeInputs());
  if (turn.signal.aborted) return { status: 'interrupted', cutOff: [] };
  await record(run, run.host.goal.news());
  const response = await askModel(run);
  if (response.ended === 'failed') return { status: 'failed', error: response.error, cutOff: response.cutOff };
  if (turn.signal.aborted) return { status: 'interrupted', cutOff: response.ended === 'stopped' ? response.cutOff : [] };
  if (response.ended === 'stopped') {
    await run.host.outbox.commit({ dropped: response.cutOff });
    return null;
  }
  if (response.calls.length === 0) return ended(run);
  await runCalls(run, response.calls);
  return null;
}

/** Input is stored when its request is answered; here clients see it, and what was deferred is read from now on. */
async function announceInputs({ host, turn }: RunningTurn, inputs: Arrival[]): Promise<void> {
  const ids = { threadId: host.threadId, turnId: turn.id };
  for (const input of inputs) {
    if (input === 'deferred') {
      await host.outbox.commit({ entries: [{ kind: 'deferredRead', turnId: turn.id }] });
      continue;
    }
    const { item, atMs } = input;
    await host.outbox.commit({
      announce: [
        { method: 'item/started', params: { ...ids, item, startedAtMs: atMs } },
        { method: 'item/completed', params: { ...ids, item, completedAtMs: atMs } },
      ],
    });
  }
}

async function runCalls(run: RunningTurn, calls: ToolCall[]): Promise<void> {
  const { host, turn } = run;
  if (calls.some((call) => !isGoalTool(toolName(call)))) run.acted = true;
  await record(run, calls);
  const context = ({ call_id }: ToolCall) => host.toolContext(turn, call_id);
  await record(run, await runToolCalls(calls, { tools: host.tools(), context, log: host.log }, turn.signal));
}

/** Stores what the model reads with its next request. */
async function record({ host, turn }: RunningTurn, items: readonly ResponseItem[]): Promise<void> {
  if (items.length > 0) await host.outbox.commit({ entries: modelEntries(turn.id, items) });
}

/** Ends the turn on record and for its clients. Where the record cannot be written, clients are told all the same. */
async function finish(run: RunningTurn, outcome: Outcome): Promise<void> {
  const { host, turn } = run;
  turn.refuseInput();
  // What holds the turn is being killed then; the end of a turn that failed waits for nobody.
  if (turn.signal.aborted) await turn.released();
  await host.endTools(turn);
  run.runningOn = host.runningOn(turn.id);
  let goal: GoalStep = { patch: {}, announce: [] };
  try {
    await announceInputs(run, await turn.takeInputs());
    goal = goalStep(run, outcome);
    await host.outbox.commit(ending(run, outcome, goal));
  } catch (error) {
    const cutOff = outcome.status === 'completed' ? [] : outcome.cutOff;
    const failed: Outcome = outcome.status === 'failed' ? outcome : { status: 'failed', error: unexpected(error, host), cutOff };
    const more = goalStep(run, failed);
    // What the end meant for the goal has not been told yet, and is so already.
    const both = { patch: { ...goal.patch, ...more.patch }, announce: [...goal.announce, ...more.announce] };
    await host.outbox.announceUnstored(ending(run, failed, both));
  }
}

/** What a turn's end means for the goal. */
function goalStep({ host, turn, acted }: RunningTurn, outcome: Outcome): GoalStep {
  const error = outcome.status === 'failed' ? outcome.error : null;
  return host.goal.turnEnded({ turnId: turn.id, status: outcome.status, error, acted, byUser: turn.stoppedByUser });
}

function ending({ host, turn, lastMessage, runningOn }: RunningTurn, outcome: Outcome, goal: GoalStep): Step {
  const { threadId } = host;
  const completedAtMs = host.clock.now();
  const end = {
    status: outcome.status,
    error: outcome.status === 'failed' ? outcome.error : null,
    completedAtMs,
    durationMs: Math.max(0, completedAtMs - turn.startedAtMs),
  };
  const status = host.statusStep(outcome.status === 'failed' ? 'systemError' : 'idle');
  const errors: Announcement[] =
    outcome.status === 'failed' ? [{ method: 'error', params: { error: outcome.error, willRetry: false, threadId, turnId: turn.id } }] : [];
  const shown = outcome.status === 'completed' ? { items: lastMessage === null ? [] : [lastMessage], itemsView: 'summary' as const } : {};
  const view = turnView({ id: turn.id, startedAtMs: turn.startedAtMs, ...end, ...shown });
  return {
    patch: { ...status.patch, ...goal.patch },
    entries: [
      ...cutOffEntries(turn, outcome, completedAtMs),
      ...runningOn.map(({ item, startedAtMs }) => ({
        kind: 'item' as const,
        turnId: turn.id,
        item,
        startedAtMs,
        completedAtMs,
        running: true,
      })),
      { kind: 'turnEnded', turnId: turn.id, ...end, tokenUsage: host.tokenUsage() },
    ],
    durable: true,
    announce: [...goal.announce, ...(status.announce ?? []), ...errors, { method: 'turn/completed', params: { threadId, turn: view } }],
  };
}

/** What a turn that was cut off leaves: items as far as they came, for clients alone, and a word to the model. */
function cutOffEntries(turn: ActiveTurn, outcome: Outcome, completedAtMs: number): LogEntry[] {
  if (outcome.status === 'completed') return [];
  const entries: LogEntry[] = outcome.cutOff.map(({ item, startedAtMs }) => ({
    kind: 'item',
    turnId: turn.id,
    item: settleItem(item),
    startedAtMs,
    completedAtMs,
    partial: true,
  }));
  if (outcome.status === 'interrupted') entries.push({ kind: 'model', turnId: turn.id, item: userText(INTERRUPTED_NOTE) });
  return entries;
}

function userText(text: string): ResponseItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function unexpected(error: unknown, { log, threadId }: TurnDeps): TurnError {
  if (error instanceof StoreError) return otherError(error.message);
  log.error({ err: error, threadId }, 'a turn failed inside the server');
  return {
    message: `The turn failed inside the server: ${error instanceof Error ? error.message : String(error)}`,
    codexErrorInfo: 'internalServerError',
    additionalDetails: null,
  };
}
