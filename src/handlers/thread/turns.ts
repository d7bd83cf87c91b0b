import { storedTurnViews } from '../../agent/thread-view.ts';
import type { Turn, TurnsPage } from '../../protocol/generated/types.ts';
import type { Page, PageQuery, StoredTurn } from '../../store/thread-store.ts';
import { pageLimit } from '../list-page.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

type View = StoredTurn['itemsView'];

/** A page of a thread's turns. For a loaded thread, it includes state that is not in the store. */
export async function turnsPage({ store, threads }: ThreadDeps, threadId: string, query: PageQuery & { view: View }): Promise<TurnsPage> {
  const page: Page<StoredTurn> = await store.listTurns(threadId, query);
  return { ...page, data: storedTurnViews(page.data, threads.find(threadId)) };
}

/** All turns of a thread, oldest first, with all their items. */
export async function allTurns(deps: ThreadDeps, threadId: string): Promise<Turn[]> {
  return (await turnsPage(deps, threadId, { direction: 'asc', view: 'full' })).data;
}

export function turnsMethods(deps: ThreadDeps) {
  return {
    'thread/turns/list': {
      queue: perThread,
      reads: true,
      async handle({ threadId, cursor = null, limit, sortDirection, itemsView }) {
        await deps.threads.record(threadId);
        return turnsPage(deps, threadId, {
          cursor,
          limit: pageLimit(limit),
          direction: sortDirection ?? 'desc',
          view: itemsView ?? 'summary',
        });
      },
    },

    'thread/turns/items/list': {
      queue: perThread,
      reads: true,
      async handle({ threadId, turnId, cursor = null, limit, sortDirection }) {
        await deps.threads.record(threadId);
        const direction = sortDirection ?? 'asc';
        const page = await deps.store.listItems(threadId, { turnId, cursor, limit: pageLimit(limit), direction });
        return { ...page, data: page.data.map(({ item }) => item) };
      },
    },
  } satisfies Partial<MethodTable>;
}
