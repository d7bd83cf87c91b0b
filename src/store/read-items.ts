import type { ResponseItem } from '../protocol/generated/types.ts';
import { after, type History, type Place } from './history.ts';
import { hasMore, historyPage, pageRange, rangeFrom, rowLimit } from './pages.ts';
import type { Page, PageQuery, StoredItem } from './store.ts';

/**
 * A page of items, of the whole history or of the turn that begins at `turn`; it begins with the item at `first`, where
 * one is given. Only its own rows are parsed.
 */
export function readItems(
  history: History,
  query: PageQuery,
  { turn, first }: { turn: Place | null; first: Place | null },
): Page<StoredItem> {
  const { from, to } = within(history, first === null ? pageRange(history, 'items', query) : rangeFrom(history, first, query), turn);
  const found = history.rows(from, to, { selection: 'items', direction: query.direction, limit: rowLimit(query) });
  const more = hasMore(found, query);
  const rows = more ? found.slice(0, -1) : found;
  const last = more ? rows.at(-1) : undefined;
  if (query.direction === 'asc') history.assertWhole(from, last ? after(last) : to);
  else history.assertWhole(last ?? from, to);
  const items = rows.flatMap((row) => {
    const entry = history.parse(row);
    if (entry.kind !== 'item') return [];
    return { turnId: entry.turnId, item: entry.item, startedAtMs: entry.startedAtMs, completedAtMs: entry.completedAtMs };
  });
  return historyPage('items', items, { places: rows, more });
}

export function readModelItems(history: History): ResponseItem[] {
  history.assertWhole(history.start, history.end);
  return history.entries(history.start, history.end, 'model').flatMap((entry) => (entry.kind === 'model' ? entry.item : []));
}

function within(history: History, { from, to }: { from: Place; to: Place }, turn: Place | null): { from: Place; to: Place } {
  if (turn === null) return { from, to };
  const end = history.nextTurn(turn);
  return {
    from: history.compare(from, turn) < 0 ? turn : from,
    to: history.compare(to, end) > 0 ? end : to,
  };
}
