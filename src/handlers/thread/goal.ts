import type { ThreadGoals } from '../../agent/goal/thread-goals.ts';
import { type MethodTable, perThread, readsThread } from '../requested/method.ts';

export function goalMethods({ goals }: { goals: ThreadGoals }) {
  return {
    'thread/goal/set': {
      order: perThread,
      async handle({ threadId, objective, status, tokenBudget }, { after }) {
        const { result, announce } = await goals.set(threadId, {
          objective: objective ?? null,
          status: status ?? null,
          tokenBudget,
        });
        after(announce);
        return { goal: result };
      },
    },

    'thread/goal/get': {
      order: readsThread,
      async handle({ threadId }) {
        return { goal: await goals.get(threadId) };
      },
    },

    'thread/goal/clear': {
      order: perThread,
      async handle({ threadId }, { after }) {
        const { result, announce } = await goals.clear(threadId);
        after(announce);
        return { cleared: result };
      },
    },
  } satisfies Partial<MethodTable>;
}
