import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, UntimedItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { Tool } from '../../tools/tool.ts';
import { itemShown } from '../items/item-shown.ts';
import { mergedSteps, type Step, type StepAddition, StepSequence } from '../outbox/step.ts';
import type { Ending } from '../turn/conversation.ts';
import { modelEntries } from '../turn/turn-input.ts';
import type { TurnBeginning, TurnOpening } from '../turn/turn-opening.ts';
import { turnView } from '../turn/turn-view.ts';
import { endTurn, failedEnding } from './end-turn.ts';
import { respond } from './respond.ts';
import { otherError, type RunningTurn } from './running-turn.ts';
import { takeInputs } from './take-inputs.ts';
import { tellContext } from './tell-context.ts';

/**
 * How many requests one turn may send to the model: a limit for models that never stop calling
 * tools.
 */
const MODEL_REQUESTS_MAX = 1000;

/**
 * Runs a turn to its end: asks the model, runs the tools that it calls, and asks again until it
 * calls none. Never rejects: a failure ends the turn, and exactly one `turn/completed` announces
 * the end. A turn with an opening may end without asking the model.
 */
export async function runTurn(
  made: Pick<RunningTurn, 'thread' | 'calls' | 'turn' | 'conversation'>,
  beginning: Omit<TurnBeginning, 'conversation'>,
): Promise<void> {
  const sequence = new StepSequence();
  const run: RunningTurn = {
    ...made,
    sequence,
    response: null,
    broken: null,
    lastMessage: null,
    left: 'nothing',
    untaken: [],
    acted: false,
    runningOn: null,
  };
  let ending: Ending;
  try {
    await begin(run, beginning.step);
    ending =
      beginning.opening === null ? await converse(run) : await openWith(run, beginning.opening);
  } catch (error) {
    ending = failedEnding(error, made.thread);
  }
  await endTurn(run, ending);
}

async function begin({ thread, turn }: RunningTurn, step: StepAddition): Promise<void> {
  await thread.outbox.commit(
    thread.state.statusStep('active', thread.services.runtime.clock.now()),
  );
  const { id, rootTurnId, startedAtMs } = turn;
  const started = turnView({ id, rootTurnId, status: 'inProgress', startedAtMs });
  const announce: Announcement[] = [
    { method: 'turn/started', params: { threadId: thread.id, turn: started } },
  ];
  await thread.outbox.commit(mergedSteps([{ announce }, step]));
}

/**
 * Runs the opening, and asks the model only if input has arrived meanwhile, with the settings of
 * that input. Without input, the turn fails if the opening failed.
 */
async function openWith(run: RunningTurn, opening: TurnOpening): Promise<Ending> {
  const error = await opening(run.turn);
  const ending = await ended(run);
  run.turn.isOpening = false;
  if (ending === null) await tellContext(run.thread, run.turn);
  if (error === null || ending?.status === 'interrupted') return ending ?? converse(run);
  if (ending !== null) return { status: 'failed', error };
  // The input that has arrived is answered, whatever became of the opening.
  const { id: threadId } = run.thread;
  await run.thread.outbox.announce([
    { method: 'error', params: { error, willRetry: true, threadId, turnId: run.turn.id } },
  ]);
  return converse(run);
}

/** Returns how a turn with nothing left to do ends, or null if input has arrived. */
async function ended({ turn }: RunningTurn): Promise<Ending | null> {
  if (!(await turn.closeUnlessInput())) return null;
  return turn.signal.aborted ? { status: 'interrupted' } : { status: 'completed' };
}

async function converse(run: RunningTurn): Promise<Ending> {
  for (let requests = 0; requests < MODEL_REQUESTS_MAX; requests++) {
    const ending = await step(run);
    if (ending !== null) return ending;
  }
  return {
    status: 'failed',
    error: otherError(
      `The turn asked the model ${MODEL_REQUESTS_MAX} times without coming to an end.`,
    ),
  };
}

/** Asks the model once. Returns null if it has to be asked again. */
async function step(run: RunningTurn): Promise<Ending | null> {
  const { thread, turn, conversation } = run;
  const ready = await prepare(run);
  if (ready === null || 'status' in ready) return ready;
  run.left = 'request';
  const { response, again } = await respond(run, ready.tools);
  if (response.ended === 'failed' && !again && !conversation.requestFailed(response.error))
    return { status: 'failed', error: response.error };
  if (turn.signal.aborted) return { status: 'interrupted' };
  if (response.ended === 'completed' && !response.hasCalls) {
    run.left = 'stopping';
    return endUnlessMore(run);
  }
  if (response.ended === 'failed')
    await thread.outbox.commit({ dropped: run.response?.drop() ?? [] });
  await thread.outbox.stored(run.sequence);
  return null;
}

/** The model has nothing to do. Returns how the turn ends, or null if it goes on. */
async function endUnlessMore(run: RunningTurn): Promise<Ending | null> {
  const ending = (await goesOn(run)) ? null : await ended(run);
  if (ending === null) await run.thread.outbox.stored(run.sequence);
  return ending;
}

/**
 * Takes the input that has arrived, and prepares a request. Returns its tools, the turn's end, or
 * null if input has arrived meanwhile.
 */
async function prepare(run: RunningTurn): Promise<{ tools: readonly Tool[] } | Ending | null> {
  const { turn, conversation } = run;
  const tell = (messages: readonly ResponseItem[]) =>
    record(run, modelEntries(turn.id, messages, 'server'));
  const opened = await conversation.parts?.emit('inputNext', {}, turn);
  await tell(opened?.tell ?? []);
  if (opened?.end === true)
    return turn.signal.aborted ? { status: 'interrupted' } : { status: 'completed' };
  const taken = await takeInputs(run);
  if (turn.signal.aborted) return { status: 'interrupted' };
  if (taken === 'endsTurn') return { status: 'completed' };
  if (taken === 'refused' && run.left !== 'request') return endUnlessMore(run);
  const end = await conversation.beforeRequest(turn, tell);
  if (end !== null)
    return end.error === null ? { status: 'completed' } : { status: 'failed', error: end.error };
  const tools = await conversation.tools(turn);
  return turn.signal.aborted ? { status: 'interrupted' } : { tools };
}

/**
 * Asks the parts whether a turn that has nothing left to do goes on. Input that has arrived goes
 * before.
 */
async function goesOn(run: RunningTurn): Promise<boolean> {
  const { thread, turn, conversation } = run;
  if (
    run.left === 'nothing' ||
    conversation.parts === null ||
    (await turn.hasInput()) ||
    turn.signal.aborted
  )
    return false;
  const message = run.lastMessage?.type === 'agentMessage' ? run.lastMessage.text : null;
  const results = await conversation.parts.results('stopping', turn, (part) =>
    part.stopping(turn, message),
  );
  const reasons = results.flatMap(({ goOn }) => goOn ?? []);
  run.left = reasons.length === 0 ? 'nothing' : 'request';
  if (reasons.length === 0 || turn.signal.aborted) return false;
  await thread.outbox.stored(run.sequence);
  for (const { item, tell } of reasons) await thread.outbox.commit(shownStep(run, item, tell));
  return true;
}

/** The step that shows an item to clients and tells the model these messages. */
function shownStep(
  { thread, turn }: RunningTurn,
  item: UntimedItem,
  tell: readonly ResponseItem[],
): Step {
  const atMs = thread.services.runtime.clock.now();
  return {
    entries: [
      { kind: 'item', turnId: turn.id, item, startedAtMs: atMs, completedAtMs: atMs },
      ...modelEntries(turn.id, tell, 'server'),
    ],
    announce: itemShown(thread.id, { turnId: turn.id, item, atMs }),
  };
}

/** Stores items that the model reads with its next request. */
async function record(run: RunningTurn, items: LogEntry[]): Promise<void> {
  const entries = run.conversation.withoutOwn(items);
  if (entries.length > 0) await run.thread.outbox.commit({ entries });
}
