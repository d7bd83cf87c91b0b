import type { ThreadResumeResponse } from '../../protocol/generated/types.ts';
import type { ThreadServices } from './thread-services.ts';

/**
 * Cursors for reading a thread backwards from its last turn and from its last item. Each is null if
 * there is none.
 */
export async function latestCursors(
  { store }: Pick<ThreadServices, 'store'>,
  threadId: string,
): Promise<Pick<ThreadResumeResponse, 'turnsBackwardsCursor' | 'itemsBackwardsCursor'>> {
  const lastTurn = await store.listTurns(threadId, {
    direction: 'desc',
    limit: 1,
    view: 'notLoaded',
  });
  const lastItem = await store.listItems(threadId, { direction: 'desc', limit: 1 });
  return {
    turnsBackwardsCursor: lastTurn.backwardsCursor,
    itemsBackwardsCursor: lastItem.backwardsCursor,
  };
}
