import type { Page } from '../../store/page-query.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ForkPoint, StoredTurn, ThreadStore } from '../../store/thread-store.ts';

/** How many turns are read at a time. */
const PAGE_TURNS = 50;

/**
 * Returns the token usage of a thread at this point, from the last turn before it that recorded
 * one. Null if none did. It counts all compactions of the thread, so that no number of one comes
 * twice.
 */
export async function costAt(
  store: ThreadStore,
  threadId: string,
  point: NonNullable<ForkPoint>,
): Promise<ThreadRecord['tokenUsage']> {
  const pointId = 'afterTurnId' in point ? point.afterTurnId : point.beforeTurnId;
  let isBefore = false;
  let cursor: string | null = null;
  do {
    const page: Page<StoredTurn> = await store.listTurns(threadId, {
      direction: 'desc',
      limit: PAGE_TURNS,
      view: 'notLoaded',
      cursor,
    });
    for (const { id, tokenUsage } of page.data) {
      if (isBefore || ('afterTurnId' in point && id === pointId)) {
        isBefore = true;
        if (tokenUsage !== undefined)
          return { turnId: id, usage: tokenUsage, ...(await compactionsOf(store, threadId)) };
      }
      isBefore ||= id === pointId;
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return null;
}

async function compactionsOf(
  store: ThreadStore,
  threadId: string,
): Promise<{ compactions?: number }> {
  const compactions = (await store.getThread(threadId))?.tokenUsage?.compactions;
  return compactions === undefined ? {} : { compactions };
}
