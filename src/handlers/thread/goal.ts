import type { ThreadGoals } from '../../agent/goal/thread-goals.ts';
import { type MethodTable, perThread } from '../requested/method.ts';

export function goalMethods({ goals }: { goals: ThreadGoals }) {
  return {
    'thread/goal/set': {
      queue: perThread,
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
      queue: perThread,
      reads: true,
      async handle({ threadId }) {
        return { goal: await goals.get(threadId) };
      },
    },

    'thread/goal/clear': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        const { result, announce } = await goals.clear(threadId);
        after(announce);
        return { cleared: result };
      },
    },
  } satisfies Partial<MethodTable>;
}
