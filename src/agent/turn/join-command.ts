import type { UserCommand } from '../../tools/command/user-command.ts';
import type { ThreadCalls } from '../calls/thread-calls.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from './active-turn.ts';
import { modelEntries } from './turn-input.ts';

interface TurnCommand {
  turn: ActiveTurn;
  command: UserCommand;
}

/** Runs a user command in a turn of its own, and stores the message about it for the model. */
export async function openWithCommand(
  { outbox }: Pick<ThreadContext, 'outbox'>,
  calls: ThreadCalls,
  { turn, command }: TurnCommand,
): Promise<null> {
  const report = await calls.runUserCommand(turn, command);
  await outbox.commit({ entries: modelEntries(turn.id, [report], 'server') });
  return null;
}

/**
 * Returns the function that runs a user command in a running turn, which does not end before the
 * command does; null if the turn is closed to input. The model reads the message about it after its
 * current response.
 */
export function joinCommand(
  { id: threadId, outbox, services }: Pick<ThreadContext, 'id' | 'outbox' | 'services'>,
  calls: ThreadCalls,
  { turn, command }: TurnCommand,
): (() => void) | null {
  const { log, keepAlive } = services.runtime;
  const release = turn.hold();
  if (release === null) return null;
  const run = async () => {
    const report = await calls.runUserCommand(turn, command);
    await outbox.commit({
      entries: [{ kind: 'model', turnId: turn.id, item: report, deferred: true, author: 'server' }],
    });
  };
  const failed = (error: unknown) =>
    log.error({ err: error, threadId }, 'a user command failed inside the server');
  return () => void keepAlive.during(run().catch(failed).finally(release));
}
