import { noRolloutFound, threadEphemeral } from '../../protocol/rpc-error.ts';
import { announceThreadGone } from '../announce-thread-gone.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function archiveMethods(deps: ThreadDeps) {
  const { threads, store, clock } = deps;
  return {
    'thread/archive': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        const { ephemeral } = await threads.record(threadId, noRolloutFound);
        if (ephemeral) throw threadEphemeral(threadId);
        const wasLoaded = await threads.retire(threadId, () => store.archiveThread(threadId, clock.now()));
        after(() => announceThreadGone(deps, 'thread/archived', { threadId, wasLoaded }));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
