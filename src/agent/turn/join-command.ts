import type { UserCommand } from '../../tools/command/user-command.ts';
import type { AgentDeps } from '../agent-deps.ts';
import type { ThreadTools } from '../calls/thread-tools.ts';
import type { Outbox } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';
import { modelEntries } from './turn-input.ts';

interface JoinCommandDeps {
  tools: ThreadTools;
  outbox: Outbox;
  deps: AgentDeps;
}

/** A command of the user's as the turn of its own: stores what the model will read of it. */
export async function openWithCommand({ tools, outbox }: JoinCommandDeps, turn: ActiveTurn, command: UserCommand): Promise<void> {
  const told = await tools.runUserCommand(turn, command);
  await outbox.commit({ entries: modelEntries(turn.id, [told]) });
}

/**
 * A command of the user's in a turn that runs, which does not end before it. The model reads of it behind what it is saying.
 * Null: the turn is past taking any. What it gives runs the command.
 */
export function joinCommand({ tools, outbox, deps }: JoinCommandDeps, turn: ActiveTurn, command: UserCommand): (() => void) | null {
  const release = turn.hold();
  if (release === null) return null;
  const run = async () => {
    const told = await tools.runUserCommand(turn, command);
    await outbox.commit({ entries: [{ kind: 'model', turnId: turn.id, item: told, deferred: true }] });
  };
  const failed = (error: unknown) =>
    deps.log.error({ err: error, threadId: tools.threadId }, 'a command of the user failed inside the server');
  return () => void deps.keepAlive.during(run().catch(failed).finally(release));
}
