import type { Page, StoredItem } from '../../store/store.ts';
import { type MethodTable, pageLimit, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

export function itemsMethods({ store, threads }: ThreadDeps) {
  return {
    'thread/items/list': {
      queue: perThread,
      async handle({ threadId, turnId = null, cursor = null, limit, sortDirection }): Promise<Page<StoredItem>> {
        await threads.record(threadId);
        const place = typeof cursor === 'object' && cursor !== null ? { fromItemId: cursor.itemId } : { cursor };
        return store.listItems(threadId, { turnId, ...place, limit: pageLimit(limit), direction: sortDirection ?? 'asc' });
      },
    },
  } satisfies Partial<MethodTable>;
}
