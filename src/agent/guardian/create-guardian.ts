import type { ThreadContext } from '../thread-context.ts';
import { Guardian } from './guardian.ts';
import { Judge } from './judge.ts';
import { userWords } from './user-words.ts';

/** Creates the guardian of a loaded thread. */
export function createGuardian(thread: ThreadContext): Guardian {
  const { id: threadId, state, outbox, usage, services } = thread;
  const { clock, ids } = services.runtime;
  const { processes, sandbox, home, env } = services.machine;
  const own = async () => {
    const history = await thread.history.state();
    return history === null ? null : [...history.read, ...history.deferred];
  };
  const judge = new Judge({
    threadId,
    clock,
    home,
    env,
    processes,
    sandbox,
    config: () => state.configuration.config,
    ownModel: () => state.configuration.model,
    modelFor: services.providers.modelFor,
    onUsage: (turn, used) => outbox.commit(usage.aside(turn, used)),
    ownWindow: (model) => state.configuration.contextWindow(model),
    history: async () => {
      const history = await own();
      if (history === null) return null;
      // An agent that was started with fork_context has read what was said above until then.
      const said = new Set(userWords(history).map(({ item }) => JSON.stringify(item)));
      const above = (await services.agents.saidAbove(threadId)).filter(
        ({ item }) => !said.has(JSON.stringify(item)),
      );
      return [...above, ...history];
    },
    goal: () => {
      const { goal } = state.record;
      return goal === null || goal.isModels ? null : goal.objective;
    },
  });
  const { sessionId } = state.record;
  return new Guardian({
    threadId,
    sessionId,
    clock,
    ids,
    outbox,
    judge,
    denials: services.agents.denials,
    history: own,
  });
}
