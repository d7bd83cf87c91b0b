import type { ResponseItem } from '../../../protocol/generated/types.ts';
import { ModelItems } from '../../model-items.ts';
import type { Page, PageQuery, StoredItem } from '../../thread-store.ts';
import { after, type History, type HistoryPosition } from './history.ts';
import { hasMore, historyPage, pageRange, rangeFrom, rowLimit } from './history-page.ts';
import type { LogRow } from './log-rows.ts';

/**
 * Reads a page of items of the whole history, or of the turn that begins at `turn`. If `first` is given, the page begins with
 * the item there. Parses only the rows of the page.
 */
export function readItems(
  history: History,
  query: PageQuery,
  { turn, first }: { turn: HistoryPosition | null; first: HistoryPosition | null },
): Page<StoredItem> {
  const { from, to } = within(history, first === null ? pageRange(history, 'items', query) : rangeFrom(history, first, query), turn);
  const found = history.rows(from, to, { selection: 'items', direction: query.direction, limit: rowLimit(query) });
  const more = hasMore(found, query);
  const rows = more ? found.slice(0, -1) : found;
  const last = more ? rows.at(-1) : undefined;
  if (query.direction === 'asc') history.assertWhole(from, last ? after(last) : to);
  else history.assertWhole(last ?? from, to);
  return historyPage('items', toItems(history, rows), { positions: rows, more });
}

/** Reads those of the items that the turn at `turn` has, in its order. Reads only their rows. */
export function readNamedItems(history: History, turn: HistoryPosition, itemIds: readonly string[]): StoredItem[] {
  const end = history.nextTurn(turn);
  const positions = [...new Set(itemIds)]
    .map((id) => history.findItem(id, { from: turn, to: end }))
    .filter((position) => position !== null);
  positions.sort((a, b) => history.compare(a, b));
  return positions.flatMap((position) =>
    toItems(history, history.rows(position, after(position), { selection: 'items', direction: 'asc', limit: 1 })),
  );
}

export function readModelItems(history: History): ResponseItem[] {
  history.assertWhole(history.start, history.end);
  const items = new ModelItems();
  for (const entry of history.entries(history.start, history.end, 'model')) items.add(entry);
  return items.list();
}

function toItems(history: History, rows: LogRow[]): StoredItem[] {
  return rows.flatMap((row) => {
    const entry = history.parse(row);
    if (entry.kind !== 'item') return [];
    return { turnId: entry.turnId, item: entry.item, startedAtMs: entry.startedAtMs, completedAtMs: entry.completedAtMs };
  });
}

function within(
  history: History,
  { from, to }: { from: HistoryPosition; to: HistoryPosition },
  turn: HistoryPosition | null,
): { from: HistoryPosition; to: HistoryPosition } {
  if (turn === null) return { from, to };
  const end = history.nextTurn(turn);
  return {
    from: history.compare(from, turn) < 0 ? turn : from,
    to: history.compare(to, end) > 0 ? end : to,
  };
}
