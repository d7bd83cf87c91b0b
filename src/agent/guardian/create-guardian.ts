import type { TurnPartDeps } from '../turn/turn-part-deps.ts';
import { Guardian } from './guardian.ts';
import { Judge } from './judge.ts';
import { userWords } from './user-words.ts';

/** Creates the guardian of a loaded thread. */
export function createGuardian(deps: TurnPartDeps): Guardian {
  const { threadId, clock, ids, outbox, home, env, modelFor, processes, sandbox } = deps;
  const own = async () => {
    const state = await deps.history.state();
    return state === null ? null : [...state.read, ...state.deferred];
  };
  const judge = new Judge({
    threadId,
    clock,
    home,
    env,
    processes,
    sandbox,
    config: () => deps.configuration().config,
    ownModel: () => deps.configuration().model,
    modelFor,
    onUsage: (turn, usage) => outbox.commit(deps.tokensStep(turn, usage)),
    ownWindow: (model) => deps.configuration().contextWindow(model),
    history: async () => {
      const history = await own();
      if (history === null) return null;
      // An agent that was started with fork_context has read what was said above until then.
      const said = new Set(userWords(history).map(({ item }) => JSON.stringify(item)));
      const above = (await deps.agents.saidAbove(threadId)).filter(
        ({ item }) => !said.has(JSON.stringify(item)),
      );
      return [...above, ...history];
    },
    goal: () => {
      const { goal } = deps.record();
      return goal === null || goal.isModels ? null : goal.objective;
    },
  });
  const { sessionId } = deps.record();
  return new Guardian({
    threadId,
    sessionId,
    clock,
    ids,
    outbox,
    judge,
    denials: deps.agents.denials,
    history: own,
  });
}
