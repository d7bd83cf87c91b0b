import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function unarchiveMethods({ threads, store, clients, clock }: ThreadDeps) {
  return {
    'thread/unarchive': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        await threads.record(threadId);
        const record = await store.unarchiveThread(threadId, clock.now());
        after(() => clients.publish('everyone', 'thread/unarchived', { threadId }));
        return { thread: threads.view(record) };
      },
    },
  } satisfies Partial<MethodTable>;
}
