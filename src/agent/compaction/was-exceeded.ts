import type { TurnError } from '../../protocol/generated/types.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** How many turns are read to find the last one that was not a review. */
const TURNS_READ_MAX = 8;

/**
 * Whether the turn before this one, which another process may have run, failed because its prompt
 * was too long. Rejects with the store's error.
 */
export async function wasExceeded(
  { id, history, services }: Pick<ThreadContext, 'id' | 'history' | 'services'>,
  turn: TurnContext,
): Promise<boolean> {
  const state = await history.state();
  if (state?.read.some(({ turnId }) => turnId !== turn.id) !== true) return false;
  const error = await lastTurnError(services.store, id);
  return error?.codexErrorInfo === 'contextWindowExceeded';
}

/**
 * The error of the thread's last turn that has ended and was not a review; null: there is none.
 * Rejects with the store's error.
 */
async function lastTurnError(store: ThreadStore, threadId: string): Promise<TurnError | null> {
  const { data } = await store.listTurns(threadId, {
    direction: 'desc',
    limit: TURNS_READ_MAX,
    view: 'notLoaded',
  });
  for (const turn of data) {
    if (turn.status === 'inProgress') continue;
    const { data: items } = await store.listItems(threadId, {
      turnId: turn.id,
      direction: 'asc',
      limit: 1,
    });
    if (items[0]?.item.type !== 'enteredReviewMode') return turn.error;
  }
  return null;
}
