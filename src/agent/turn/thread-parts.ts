import type { ResponseItem } from '../../protocol/generated/types.ts';
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
  history(): Promise<readonly ResponseItem[] | null>;
}

/** Creates one part of each kind for a loaded thread. */
export function threadParts({ state, outbox, agent, turnBegun, history }: ThreadPartsDeps): TurnParts {
  const { clock, ids, log, processes, sandbox, home, env, partKinds, modelFor } = agent;
  const deps = {
    threadId: state.id,
    clock,
    ids,
    outbox,
    processes,
    sandbox,
    home,
    env,
    record: () => state.record,
    configuration: () => state.configuration,
    keep: (patch: ThreadPatch) => state.keep(patch),
    turnBegun,
    history,
    modelFor,
  };
  return new TurnParts(
    partKinds.map((kind) => kind.create(deps)),
    { threadId: state.id, log },
  );
}
