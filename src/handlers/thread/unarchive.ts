import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function unarchiveMethods({ threads, store, clients, clock }: ThreadServices) {
  return {
    'thread/unarchive': {
      order: perThread,
      async handle({ threadId }, { after }) {
        const { archivedAtMs } = await threads.record(threadId);
        const together = (await store.listAgents(threadId)).filter(
          (agent) => agent.archivedAtMs !== null && agent.archivedAtMs === archivedAtMs,
        );
        // The thread itself last: its time says which agents were archived with it, if this is
        // tried again after a failure.
        const back: string[] = [];
        const announce = () => {
          for (const id of back) clients.publish('everyone', 'thread/unarchived', { threadId: id });
        };
        try {
          for (const { id } of together) {
            await store.unarchiveThread(id, clock.now());
            back.push(id);
          }
          const record = await store.unarchiveThread(threadId, clock.now());
          back.unshift(threadId);
          after(announce);
          return { thread: threads.view(record) };
        } catch (error) {
          announce();
          throw error;
        }
      },
    },
  } satisfies Partial<MethodTable>;
}
