import type { ThreadResumeResponse } from '../protocol/generated/types.ts';
import type { ThreadDeps } from './thread-deps.ts';

/** From where a client reads a thread backwards: cursors at its last turn and its last item, null where it has none. */
export async function latestCursors(
  { store }: Pick<ThreadDeps, 'store'>,
  threadId: string,
): Promise<Pick<ThreadResumeResponse, 'turnsBackwardsCursor' | 'itemsBackwardsCursor'>> {
  const lastTurn = await store.listTurns(threadId, { direction: 'desc', limit: 1, view: 'notLoaded' });
  const lastItem = await store.listItems(threadId, { direction: 'desc', limit: 1 });
  return { turnsBackwardsCursor: lastTurn.backwardsCursor, itemsBackwardsCursor: lastItem.backwardsCursor };
}
