import type { ThreadPatch } from '../../store/thread-store.ts';
import type { AgentDeps } from '../agent-deps.ts';
import type { Outbox } from '../outbox.ts';
import type { ThreadState } from '../thread-state.ts';
import { TurnParts } from './turn-parts.ts';

interface ThreadPartsDeps {
  state: ThreadState;
  outbox: Outbox;
  agent: AgentDeps;
  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void>;
}

/** Creates one part of each kind for a loaded thread. */
export function threadParts({ state, outbox, agent, turnBegun }: ThreadPartsDeps): TurnParts {
  const { clock, log, processes, sandbox, home, env, partKinds } = agent;
  const deps = {
    threadId: state.id,
    clock,
    outbox,
    processes,
    sandbox,
    home,
    env,
    record: () => state.record,
    configuration: () => state.configuration,
    keep: (patch: ThreadPatch) => state.keep(patch),
    turnBegun,
  };
  return new TurnParts(
    partKinds.map((kind) => kind.create(deps)),
    { threadId: state.id, log },
  );
}
