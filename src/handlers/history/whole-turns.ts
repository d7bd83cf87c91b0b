import type { StoredItem } from '../../store/log-entry.ts';
import type { HistoryPage, PageQuery } from '../../store/page-query.ts';
import type { StoredTurn, ThreadStore } from '../../store/thread-store.ts';
import { timedItem } from '../../store/timed-item.ts';
import { combinedPage } from './combined-page.ts';

interface Limits {
  /** The page ends before the turn with which it would exceed this. It has at least one turn. */
  bytesMax: number;
  /** The most that the first turn may have. */
  turnBytesMax: number;
}

/** A turn that is too large for any page. */
export class TurnTooLarge extends Error {
  override readonly name = 'TurnTooLarge';
  constructor(readonly turnId: string) {
    super(`turn ${turnId} is too large`);
  }
}

/** Reads a page of turns with all their items, in slices. Throws TurnTooLarge. */
export async function wholeTurns(
  store: ThreadStore,
  threadId: string,
  query: PageQuery,
  { bytesMax, turnBytesMax }: Limits,
): Promise<HistoryPage<StoredTurn>> {
  const list = (asked: PageQuery) =>
    combinedPage(
      (part) => store.listTurns(threadId, { ...part, view: 'notLoaded' }),
      asked,
      Number.POSITIVE_INFINITY,
    );
  const page = await list(query);
  const [first] = page.data;
  if (first === undefined) return page;
  const turns = new Map(page.data.map((turn) => [turn.id, turn]));
  for (const turn of page.data) turn.itemsView = 'full';
  const { direction } = query;
  for await (const items of itemsFrom(store, threadId, { fromTurnId: first.id, direction })) {
    for (const stored of items.data) turns.get(stored.turnId)?.items.push(timedItem(stored));
    page.bytes += items.bytes;
    const reached = items.data.at(-1)?.turnId ?? first.id;
    if (isPast(page, reached)) break;
    if (items.nextCursor === null || page.bytes <= bytesMax) continue;
    const count = page.data.findIndex(({ id }) => id === reached);
    if (count > 0)
      return cutPage(page, { count, direction, rest: await list({ ...query, limit: count }) });
    if (page.bytes > turnBytesMax) throw new TurnTooLarge(first.id);
  }
  return inOrder(page, direction);
}

/** The items of a turn and of all turns after it in this direction, in slices. */
async function* itemsFrom(
  store: ThreadStore,
  threadId: string,
  { fromTurnId, direction }: { fromTurnId: string; direction: PageQuery['direction'] },
): AsyncGenerator<HistoryPage<StoredItem>, void, undefined> {
  let cursor: string | null = null;
  do {
    const slice: HistoryPage<StoredItem> = await store.listItems(threadId, {
      direction,
      ...(cursor === null ? { fromTurnId } : { cursor }),
    });
    yield slice;
    cursor = slice.nextCursor;
  } while (cursor !== null);
}

/** Whether a turn comes after those of the page. */
function isPast({ data, nextCursor }: HistoryPage<StoredTurn>, turnId: string): boolean {
  return nextCursor !== null && !data.some(({ id }) => id === turnId);
}

/**
 * The page without the turn whose items have not all been read. `rest`: the page of so many turns.
 */
function cutPage(
  page: HistoryPage<StoredTurn>,
  {
    count,
    direction,
    rest,
  }: { count: number; direction: PageQuery['direction']; rest: HistoryPage<StoredTurn> },
): HistoryPage<StoredTurn> {
  return inOrder({ ...rest, data: page.data.slice(0, count), bytes: page.bytes }, direction);
}

/** The items of a turn are in its order, also if the turns are read backwards. */
function inOrder(
  page: HistoryPage<StoredTurn>,
  direction: PageQuery['direction'],
): HistoryPage<StoredTurn> {
  if (direction === 'desc') for (const turn of page.data) turn.items.reverse();
  return page;
}
