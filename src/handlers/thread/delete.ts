import { noRolloutFound } from '../../protocol/rpc-error.ts';
import { announceThreadGone } from '../announce-thread-gone.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function deleteMethods(deps: ThreadDeps) {
  const { threads, store } = deps;
  return {
    'thread/delete': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        await threads.record(threadId, noRolloutFound);
        const wasLoaded = await threads.retire(threadId, () => store.deleteThread(threadId));
        after(() => announceThreadGone(deps, 'thread/deleted', { threadId, wasLoaded }));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
