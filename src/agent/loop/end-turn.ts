import { interruptedMessage } from '../../instructions/messages/interrupted-message.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { settleItem } from '../../store/settle-item.ts';
import { StoreError } from '../../store/store-error.ts';
import { mergedSteps, type Step, type StepAddition } from '../outbox/step.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Ending } from '../turn/conversation.ts';
import { modelEntries } from '../turn/turn-input.ts';
import { turnView } from '../turn/turn-view.ts';
import { otherError, type RunningTurn } from './running-turn.ts';
import { leaveInputs } from './take-inputs.ts';

/**
 * Ends a turn: frees what belongs to it, stores and announces its end, and logs how it ended. Never
 * rejects, and announces exactly one end.
 */
export async function endTurn(run: RunningTurn, reached: Ending): Promise<void> {
  const { thread, turn } = run;
  const { status } = await finish(run, reached);
  const cause = status === 'interrupted' ? { cause: turn.interruptCause } : {};
  thread.services.runtime.log.info(
    { threadId: thread.id, turnId: turn.id, status, ...cause, ms: elapsedMs(run) },
    'turn ended',
  );
  turn.markFinished();
}

/**
 * Stores and announces the end of the turn. If it cannot be stored, its failure is announced all
 * the same. A turn that was interrupted until then ends interrupted, whatever it had come to.
 * Returns the end that was announced.
 */
async function finish(run: RunningTurn, reached: Ending): Promise<Ending> {
  const { thread, turn } = run;
  turn.end();
  // After an interrupt, the commands that hold the turn are being killed. A turn that failed does
  // not wait for them.
  if (turn.signal.aborted) await turn.released();
  thread.grants.endTurn();
  await thread.parts.cleanUp(turn);
  let parts: StepAddition = {};
  let ending = reached;
  try {
    await leaveInputs(run);
    // The items that are not stored by then are part of the end.
    if (ending.status !== 'completed') await thread.outbox.between(() => {});
    await turn.fixEnd();
    if (turn.signal.aborted) ending = { status: 'interrupted' };
    parts = partsStep(run, ending);
    await thread.outbox.commit(
      endingStep(run, ending, parts),
      ending.status === 'completed' ? run.sequence : null,
    );
    return ending;
  } catch (error) {
    const failed = ending.status === 'failed' ? ending : failedEnding(error, thread);
    // The parts have already changed memory for the first ending, so both steps are announced.
    const step = endingStep(run, failed, mergedSteps([parts, partsStep(run, failed)]));
    // If only the flush failed, the first end is in the file, and would be back after a kill. This
    // end replaces it, without a flush.
    await thread.outbox.commitOrAnnounce({ ...step, durable: false });
    return failed;
  } finally {
    // The end has what the model had not completed, and what could not be stored before.
    for (const { item } of run.response?.openItems() ?? []) thread.outbox.unfinished.end(item.id);
  }
}

/** The step of the turn's parts for this ending. */
function partsStep({ thread, turn, acted }: RunningTurn, ending: Ending): StepAddition {
  const error = ending.status === 'failed' ? ending.error : null;
  const cause = ending.status === 'interrupted' ? turn.interruptCause : null;
  return thread.parts.step('turnEnded', turn, { status: ending.status, error, cause, acted });
}

function endingStep(run: RunningTurn, ending: Ending, parts: StepAddition): Step {
  const { thread, turn } = run;
  const { id: threadId } = thread;
  run.runningOn ??= run.calls.runningOn(turn.id);
  const result = run.conversation.result(ending);
  const lastMessage = result?.message ?? run.lastMessage;
  const completedAtMs = thread.services.runtime.clock.now();
  const end = {
    status: ending.status,
    error: ending.status === 'failed' ? ending.error : null,
    completedAtMs,
    durationMs: elapsedMs(run),
  };
  const status = thread.state.statusStep(
    ending.status === 'failed' ? 'systemError' : 'idle',
    completedAtMs,
  );
  const errors: Announcement[] =
    ending.status === 'failed'
      ? [
          {
            method: 'error',
            params: { error: ending.error, willRetry: false, threadId, turnId: turn.id },
          },
        ]
      : [];
  const shown =
    ending.status === 'completed'
      ? { items: lastMessage === null ? [] : [lastMessage], itemsView: 'summary' as const }
      : {};
  const view = turnView({
    id: turn.id,
    rootTurnId: turn.rootTurnId,
    startedAtMs: turn.startedAtMs,
    ...end,
    ...shown,
  });
  const running: LogEntry[] = run.runningOn.map(({ item, startedAtMs }) => ({
    kind: 'item',
    turnId: turn.id,
    item,
    startedAtMs,
    completedAtMs,
    running: true,
  }));
  return {
    ...mergedSteps([status, parts]),
    entries: [
      ...cutOffEntries(run, ending, completedAtMs),
      ...running,
      ...(result?.step.entries ?? []),
      ...(parts.entries ?? []),
      {
        kind: 'turnEnded',
        turnId: turn.id,
        ...end,
        tokenUsage: thread.state.record.tokenUsage?.usage ?? null,
      },
    ],
    durable: true,
    isLast: true,
    announce: [
      ...(result?.step.announce ?? []),
      ...(parts.announce ?? []),
      ...status.announce,
      ...errors,
      { method: 'turn/completed', params: { threadId, turn: view } },
    ],
  };
}

/** How long the turn has run, on the monotonic clock: the system's time may jump. */
function elapsedMs({ thread, turn }: RunningTurn): number {
  return Math.round(thread.services.runtime.clock.monotonic() - turn.startedMs);
}

/**
 * The entries of a turn that was cut off: its unfinished items, for clients only, and after an
 * interrupt a message for the model.
 */
function cutOffEntries(
  { turn, response, conversation }: RunningTurn,
  ending: Ending,
  completedAtMs: number,
): LogEntry[] {
  if (ending.status === 'completed') return [];
  const entries: LogEntry[] = (response?.openItems() ?? []).map(({ item, startedAtMs }) => ({
    kind: 'item',
    turnId: turn.id,
    item: settleItem(item),
    startedAtMs,
    completedAtMs,
    partial: true,
  }));
  if (ending.status === 'interrupted' && conversation.showsMessages)
    entries.push(
      ...modelEntries(turn.id, [interruptedMessage(turn.interruptCause ?? 'user')], 'server'),
    );
  return entries;
}

/** The end of a turn in which something threw, which is logged, but not if the store failed. */
export function failedEnding(
  error: unknown,
  { id: threadId, services }: ThreadContext,
): Extract<Ending, { status: 'failed' }> {
  if (error instanceof StoreError) return { status: 'failed', error: otherError(error.message) };
  services.runtime.log.error({ err: error, threadId }, 'a turn failed inside the server');
  const message = `The turn failed inside the server: ${error instanceof Error ? error.message : String(error)}`;
  return {
    status: 'failed',
    error: { message, codexErrorInfo: 'internalServerError', additionalDetails: null },
  };
}
