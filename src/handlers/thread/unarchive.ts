import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function unarchiveMethods({ threads, store, clients, clock }: ThreadDeps) {
  return {
    'thread/unarchive': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        const { archivedAtMs } = await threads.record(threadId);
        const record = await store.unarchiveThread(threadId, clock.now());
        const together = (await store.listAgents(threadId)).filter(
          (agent) => agent.archivedAtMs !== null && agent.archivedAtMs === archivedAtMs,
        );
        for (const { id } of together) await store.unarchiveThread(id, clock.now());
        after(() => {
          for (const id of [threadId, ...together.map((agent) => agent.id)])
            clients.publish('everyone', 'thread/unarchived', { threadId: id });
        });
        return { thread: threads.view(record) };
      },
    },
  } satisfies Partial<MethodTable>;
}
