import { itemIdsOutOfRange } from '../../protocol/errors/thread-errors.ts';
import type {
  ThreadItemsListResponse,
  ThreadItemsReadResponse,
} from '../../protocol/generated/types.ts';
import { StoreError } from '../../store/store-error.ts';
import { pageLimit } from '../requested/list-page.ts';
import { type MethodTable, readsThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** The maximum number of items that a request may name. */
const ITEM_IDS_MAX = 100;

export function itemsMethods({ threads, answers }: ThreadServices) {
  return {
    'thread/items/list': {
      order: readsThread,
      async handle(
        { threadId, turnId = null, cursor = null, limit, sortDirection },
        context,
      ): Promise<ThreadItemsListResponse> {
        await threads.record(threadId);
        const place =
          typeof cursor === 'object' && cursor !== null
            ? { fromItemId: cursor.itemId }
            : { cursor };
        try {
          const query = {
            turnId,
            ...place,
            limit: pageLimit(limit),
            direction: sortDirection ?? 'asc',
          } as const;
          return await answers.items(threadId, query, context);
        } catch (error) {
          // A turn that does not exist has no items.
          if (error instanceof StoreError && error.code === 'turn_not_found')
            return { data: [], nextCursor: null, backwardsCursor: null };
          throw error;
        }
      },
    },

    'thread/items/read': {
      order: readsThread,
      async handle({ threadId, turnId, itemIds }, context): Promise<ThreadItemsReadResponse> {
        if (itemIds.length === 0 || itemIds.length > ITEM_IDS_MAX)
          throw itemIdsOutOfRange(ITEM_IDS_MAX);
        await threads.record(threadId);
        return { data: await answers.namedItems(threadId, { turnId, itemIds }, context) };
      },
    },
  } satisfies Partial<MethodTable>;
}
