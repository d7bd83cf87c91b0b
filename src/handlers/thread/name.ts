import { emptyThreadName } from '../../protocol/errors.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function nameMethods({ store, threads, publisher }: ThreadDeps) {
  return {
    'thread/name/set': {
      queue: perThread,
      async handle({ threadId, name }, { after }) {
        const threadName = name.trim();
        if (threadName === '') throw emptyThreadName();
        const { id } = await threads.record(threadId);
        const loaded = threads.find(id);
        if (loaded === null) await store.updateThread(id, { name: threadName });
        else await loaded.update({ name: threadName });
        after(() => publisher.publish('everyone', 'thread/name/updated', { threadId: id, threadName }));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
