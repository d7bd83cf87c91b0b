import { noRolloutFound, threadEphemeral } from '../../protocol/errors/thread-errors.ts';
import type { AgentRecord } from '../../store/thread-record.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import { retireAnnounced } from '../thread-changes/retire-announced.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function archiveMethods(deps: ThreadServices) {
  const { threads, store, clock } = deps;
  return {
    'thread/archive': {
      order: perThread,
      async handle({ threadId }, context) {
        const { ephemeral } = await threads.record(threadId, noRolloutFound);
        if (ephemeral) throw threadEphemeral(threadId);
        // The same time for all, by which thread/unarchive knows the agents that were archived with
        // their thread.
        const atMs = clock.now();
        const change = (id: string) => store.archiveThread(id, atMs);
        const changeAll = (ids: readonly string[]) => store.archiveThreads(ids, atMs);
        const takes = ({ archivedAtMs }: Pick<AgentRecord, 'archivedAtMs'>) =>
          archivedAtMs === null;
        await retireAnnounced(
          deps,
          { threadId, method: 'thread/archived', change, changeAll, takes },
          context,
        );
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
