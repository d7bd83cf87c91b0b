import { type MethodTable, readsThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function readMethods(deps: ThreadServices) {
  const { threads, answers } = deps;
  return {
    'thread/read': {
      order: readsThread,
      async handle({ threadId, includeTurns }, context) {
        const record = await threads.record(threadId);
        const turns =
          includeTurns === true
            ? await answers.allTurns(threadId, context, 'includeTurns to false')
            : [];
        return { thread: threads.view(record, turns), readState: null };
      },
    },
  } satisfies Partial<MethodTable>;
}
