import type { ResponseItem } from '../../protocol/generated/types.ts';
import { writtenBy } from '../../rollout/author-of.ts';
import type { Author, LogEntry } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';
import { modelEntries } from './turn-input.ts';

/**
 * Stores items for the model of a thread. Without an author, they are a client's. During a turn the model reads them after its current
 * response, and is asked again. Call the returned function after the request is answered.
 */
export async function injectModelItems(
  items: ResponseItem[],
  { author, turn, outbox }: { author: Author | null; turn: ActiveTurn | null; outbox: Outbox },
): Promise<() => void> {
  const reservation = turn?.reserveInput({ isDeferred: true }) ?? null;
  if (turn === null || reservation === null) {
    await outbox.commit({ entries: entriesOf(items, { turnId: null, author }) });
    return () => {};
  }
  try {
    const entries = entriesOf(items, { turnId: turn.id, author });
    await outbox.commit({ entries: entries.map((entry): LogEntry => ({ ...entry, deferred: true })) });
  } catch (error) {
    reservation.release();
    throw error;
  }
  return () => reservation.deliver('deferred');
}

function entriesOf(items: readonly ResponseItem[], { turnId, author }: { turnId: string | null; author: Author | null }) {
  return items.flatMap((item) => modelEntries(turnId, [item], author ?? injectedBy(item)));
}

/**
 * The author of a message that a client injects. The user need not have typed it. The server tells nothing of it again, even if it looks
 * like context.
 */
function injectedBy(item: ResponseItem): Author | null {
  const author = writtenBy(item);
  if (author === 'user') return 'client';
  return author === 'context' ? 'server' : author;
}
