import { noRolloutFound } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../method.ts';
import { announceThreadGone } from '../thread-changes/announce-thread-gone.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function deleteMethods(deps: ThreadDeps) {
  const { threads, store } = deps;
  return {
    'thread/delete': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        await threads.record(threadId, noRolloutFound);
        await threads.agents.retire(threadId, {
          change: (id) => store.deleteThread(id),
          takes: () => true,
          retired: (gone) => after(() => announceThreadGone(deps, 'thread/deleted', gone)),
        });
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
