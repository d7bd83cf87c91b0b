import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';

/**
 * Adds items to what the model of a thread reads: at once between turns; in one that runs behind what the model is saying,
 * and it is asked again. They are stored when this resolves; what it gives is to be called once the request is answered.
 */
export async function injectModelItems(
  items: ResponseItem[],
  { turn, outbox }: { turn: ActiveTurn | null; outbox: Outbox },
): Promise<() => void> {
  const place = turn?.reserveInput({ isDeferred: true }) ?? null;
  if (turn === null || place === null) {
    await outbox.commit({ entries: items.map((item): LogEntry => ({ kind: 'model', turnId: null, item })) });
    return () => {};
  }
  try {
    await outbox.commit({ entries: items.map((item): LogEntry => ({ kind: 'model', turnId: turn.id, item, deferred: true })) });
  } catch (error) {
    place.release();
    throw error;
  }
  return () => place.deliver('deferred');
}
