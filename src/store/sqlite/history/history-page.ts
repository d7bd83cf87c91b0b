import { invalidCursor } from '../../store-error.ts';
import type { Page, PageQuery } from '../../thread-store.ts';
import { decodeCursor, encodeCursor } from '../encode-cursor.ts';
import { after, type History, type HistoryPosition } from './history.ts';
import { ALL } from './log-rows.ts';

/** Lists over a history. Their cursors are not interchangeable. */
export type HistoryList = 'turns' | 'items';

/** The part of a history that a page is taken from. Throws `invalid_cursor`. */
export function pageRange(
  history: History,
  list: HistoryList,
  { cursor, direction }: PageQuery,
): { from: HistoryPosition; to: HistoryPosition } {
  if (cursor == null) return { from: history.start, to: history.end };
  const [name, logId, ordinal, inclusive] = decodeCursor(cursor, ['', 0, 0, 0]);
  const position = { logId, ordinal };
  if (name !== list || !history.holds(position)) throw invalidCursor(cursor);
  return inclusive ? rangeFrom(history, position, { direction }) : rangeBehind(history, position, { direction });
}

/** What a page that begins at a position is taken from. */
export function rangeFrom(
  history: History,
  position: HistoryPosition,
  { direction }: Pick<PageQuery, 'direction'>,
): { from: HistoryPosition; to: HistoryPosition } {
  return direction === 'asc' ? { from: position, to: history.end } : { from: history.start, to: after(position) };
}

function rangeBehind(
  history: History,
  position: HistoryPosition,
  { direction }: Pick<PageQuery, 'direction'>,
): { from: HistoryPosition; to: HistoryPosition } {
  return direction === 'asc' ? { from: after(position), to: history.end } : { from: history.start, to: position };
}

/** How many rows to read for a page: one more than it shows tells whether there are further ones. */
export function rowLimit({ limit }: PageQuery): number {
  return limit === undefined ? ALL : Math.max(1, limit) + 1;
}

/** Whether rows read under `rowLimit` are more than the page shows. */
export function hasMore(rows: unknown[], query: PageQuery): boolean {
  return rows.length === rowLimit(query);
}

/** A page with its cursors: `positions` are those of its rows. */
export function historyPage<T>(
  list: HistoryList,
  data: T[],
  { positions, more }: { positions: HistoryPosition[]; more: boolean },
): Page<T> {
  const cursor = (position: HistoryPosition | undefined, inclusive: 0 | 1) =>
    position && encodeCursor([list, position.logId, position.ordinal, inclusive]);
  return {
    data,
    nextCursor: (more && cursor(positions.at(-1), 0)) || null,
    backwardsCursor: cursor(positions[0], 1) ?? null,
  };
}
