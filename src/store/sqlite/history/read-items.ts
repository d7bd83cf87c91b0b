import type { StoredItem } from '../../log-entry.ts';
import type { HistoryPage, SliceQuery } from '../../page-query.ts';
import type { History } from './history.ts';
import { bytesLimit, historyPage, pageRange, rangeFrom, rowLimit } from './history-page.ts';
import type { LogRow } from './log-row.ts';
import { type HistoryPosition, positionAfter } from './log-row.ts';

/** Restricts a page of items; null: not. */
interface ItemRange {
  /** Only the items of the turn that begins here. */
  turn: HistoryPosition | null;
  /** Only the items from this turn on, in the page's direction. */
  fromTurn: HistoryPosition | null;
  /** The page begins with the item here. */
  first: HistoryPosition | null;
}

/**
 * Reads a page of items of the whole history, or of a part of it. Parses only the rows of the page.
 */
export function readItems(
  history: History,
  query: SliceQuery,
  { turn, fromTurn, first }: ItemRange,
): HistoryPage<StoredItem> {
  const { direction } = query;
  const asked =
    first === null ? pageRange(history, 'items', query) : rangeFrom(history, first, query);
  const { from, to } = fromTurnOn(
    history,
    { ...within(history, asked, turn), direction },
    fromTurn,
  );
  const limit = rowLimit(query);
  const found = history.slice(from, to, {
    selection: 'items',
    direction,
    limit,
    bytesMax: bytesLimit(query),
  });
  const isLong = found.rows.length === limit;
  const more = isLong || found.isCut;
  const rows = isLong ? found.rows.slice(0, -1) : found.rows;
  const last = more ? rows.at(-1) : undefined;
  if (direction === 'asc') history.assertWhole(from, last ? positionAfter(last) : to);
  else history.assertWhole(last ?? from, to);
  return {
    ...historyPage('items', toItems(history, rows), { positions: rows, more }),
    bytes: found.bytes,
  };
}

/**
 * Reads those of the items that the turn at `turn` has, in its order, as many as stay within
 * `bytesMax`, but at least one.
 */
export function readNamedItems(
  history: History,
  turn: HistoryPosition,
  { itemIds, bytesMax }: { itemIds: readonly string[]; bytesMax: number },
): { items: StoredItem[]; bytes: number; rest: string[] } {
  const end = history.nextTurn(turn);
  const found = [...new Set(itemIds)].flatMap((id) => {
    const position = history.findItem(id, { from: turn, to: end });
    return position === null ? [] : [{ id, position }];
  });
  found.sort((a, b) => history.compare(a.position, b.position));
  const items: StoredItem[] = [];
  let bytes = 0;
  for (const [index, { position }] of found.entries()) {
    const row = history.slice(position, positionAfter(position), {
      selection: 'items',
      direction: 'asc',
      limit: 1,
      bytesMax,
    });
    if (index > 0 && bytes + row.bytes > bytesMax)
      return { items, bytes, rest: found.slice(index).map(({ id }) => id) };
    items.push(...toItems(history, row.rows));
    bytes += row.bytes;
  }
  return { items, bytes, rest: [] };
}

function toItems(history: History, rows: LogRow[]): StoredItem[] {
  return rows.flatMap((row) => {
    const entry = history.parse(row);
    if (entry.kind !== 'item') return [];
    return {
      turnId: entry.turnId,
      item: entry.item,
      startedAtMs: entry.startedAtMs,
      completedAtMs: entry.completedAtMs,
    };
  });
}

interface Range {
  from: HistoryPosition;
  to: HistoryPosition;
}

function within(history: History, { from, to }: Range, turn: HistoryPosition | null): Range {
  if (turn === null) return { from, to };
  const end = history.nextTurn(turn);
  return {
    from: history.compare(from, turn) < 0 ? turn : from,
    to: history.compare(to, end) > 0 ? end : to,
  };
}

function fromTurnOn(
  history: History,
  { from, to, direction }: Range & Pick<SliceQuery, 'direction'>,
  turn: HistoryPosition | null,
): Range {
  if (turn === null) return { from, to };
  return direction === 'asc' ? { from: turn, to } : { from, to: history.nextTurn(turn) };
}
