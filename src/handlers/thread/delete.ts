import { noRolloutFound } from '../../protocol/errors/thread-errors.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import { retireAnnounced } from '../thread-changes/retire-announced.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function deleteMethods(deps: ThreadServices) {
  const { threads, store } = deps;
  return {
    'thread/delete': {
      order: perThread,
      async handle({ threadId }, context) {
        await threads.record(threadId, noRolloutFound);
        const change = (id: string) => store.deleteThread(id);
        await retireAnnounced(
          deps,
          { threadId, method: 'thread/deleted', change, takes: () => true },
          context,
        );
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
