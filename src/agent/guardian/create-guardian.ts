import type { TurnPartDeps } from '../turn/turn-part.ts';
import { Guardian } from './guardian.ts';
import { Judge } from './judge.ts';

/** Creates the guardian of a loaded thread. */
export function createGuardian(deps: TurnPartDeps): Guardian {
  const { threadId, clock, ids, outbox, home, env, modelFor } = deps;
  const judge = new Judge({
    threadId,
    clock,
    home,
    env,
    config: () => deps.configuration().config,
    ownModel: () => deps.configuration().model,
    modelFor,
    onUsage: (turn, usage) => outbox.commit(deps.tokensStep(turn, usage, { isAside: true })),
    history: async () => (await deps.history.prompt())?.items ?? null,
  });
  return new Guardian({ threadId, clock, ids, outbox, judge });
}
