import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';

/**
 * Stores items for the model of a thread. During a turn the model reads them after its current response, and is asked again. Call
 * the returned function after the request is answered.
 */
export async function injectModelItems(
  items: ResponseItem[],
  { turn, outbox }: { turn: ActiveTurn | null; outbox: Outbox },
): Promise<() => void> {
  const reservation = turn?.reserveInput({ isDeferred: true }) ?? null;
  if (turn === null || reservation === null) {
    await outbox.commit({ entries: items.map((item): LogEntry => ({ kind: 'model', turnId: null, item })) });
    return () => {};
  }
  try {
    await outbox.commit({ entries: items.map((item): LogEntry => ({ kind: 'model', turnId: turn.id, item, deferred: true })) });
  } catch (error) {
    reservation.release();
    throw error;
  }
  return () => reservation.deliver('deferred');
}
