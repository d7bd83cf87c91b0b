import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnPartKind } from '../turn/turn-part-kind.ts';
import { Denials } from './denials.ts';
import { Guardian } from './guardian.ts';
import { Judge } from './judge.ts';
import { saidIn, userWords } from './user-words.ts';

/** The guardians of all threads. They count their denials together. */
export function guardianKind(): TurnPartKind {
  const denials = new Denials();
  return { create: (thread) => createGuardian(thread, denials) };
}

function createGuardian(thread: ThreadContext, denials: Denials): Guardian {
  const { id: threadId, state, outbox, usage, services } = thread;
  const { clock, ids } = services.runtime;
  const { processes, sandbox, home, env } = services.machine;
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
    ownWindow: (model) => state.configuration.prompt.contextWindow(model),
    history: async () => {
      const history = await thread.history.items();
      if (history === null) return null;
      // An agent that was started with fork_context has read what was said above until then.
      const said = new Set(userWords(history).map(({ item }) => JSON.stringify(item)));
      const saidAbove: AuthoredItem[] = [];
      for await (const thread of services.agents.historiesAbove(threadId))
        saidAbove.push(...saidIn(thread));
      return [...saidAbove.filter(({ item }) => !said.has(JSON.stringify(item))), ...history];
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
    denials,
  });
}
