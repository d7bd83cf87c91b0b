import { pageLimit } from '../requested/list-page.ts';
import { type MethodTable, readsThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function turnsMethods({ threads, answers }: ThreadServices) {
  return {
    'thread/turns/list': {
      order: readsThread,
      async handle({ threadId, cursor = null, limit, sortDirection, itemsView }, context) {
        await threads.record(threadId);
        const query = {
          cursor,
          limit: pageLimit(limit),
          direction: sortDirection ?? 'desc',
          view: itemsView ?? 'summary',
        } as const;
        return answers.turns(threadId, query, context);
      },
    },

    'thread/turns/items/list': {
      order: readsThread,
      async handle({ threadId, turnId, cursor = null, limit, sortDirection }, context) {
        await threads.record(threadId);
        const query = {
          turnId,
          cursor,
          limit: pageLimit(limit),
          direction: sortDirection ?? 'asc',
        } as const;
        const page = await answers.items(threadId, query, context);
        return { ...page, data: page.data.map(({ item }) => item) };
      },
    },
  } satisfies Partial<MethodTable>;
}
