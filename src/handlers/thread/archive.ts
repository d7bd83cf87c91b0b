import { noRolloutFound, threadEphemeral } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../method.ts';
import { announceThreadGone } from '../thread-changes/announce-thread-gone.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function archiveMethods(deps: ThreadDeps) {
  const { threads, store, clock } = deps;
  return {
    'thread/archive': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        const { ephemeral } = await threads.record(threadId, noRolloutFound);
        if (ephemeral) throw threadEphemeral(threadId);
        // The same time for all, by which thread/unarchive knows the agents that were archived with their thread.
        const atMs = clock.now();
        await threads.agents.retire(threadId, {
          change: (id) => store.archiveThread(id, atMs),
          takes: ({ archivedAtMs }) => archivedAtMs === null,
          retired: (gone) => after(() => announceThreadGone(deps, 'thread/archived', gone)),
        });
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
