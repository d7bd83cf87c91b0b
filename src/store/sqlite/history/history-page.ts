import { decodeCursor, encodeCursor } from '../../encode-cursor.ts';
import { invalidCursor } from '../../store-error.ts';
import type { Page, PageQuery } from '../../thread-store.ts';
import { after, type History, type HistoryPosition } from './history.ts';
import { ALL } from './log-rows.ts';

/** The lists over a history. A cursor of one is invalid for the other. */
export type HistoryList = 'turns' | 'items';

/** The range of a history that a page is taken from. Throws `invalid_cursor`. */
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

/** The range that a page is taken from if it begins with the row at a position. */
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

/** The number of rows to read for a page: one more than it shows, to find out whether there are more. */
export function rowLimit({ limit }: PageQuery): number {
  return limit === undefined ? ALL : Math.max(1, limit) + 1;
}

/** Whether there are more rows than the page shows, given those that were read with `rowLimit`. */
export function hasMore(rows: unknown[], query: PageQuery): boolean {
  return rows.length === rowLimit(query);
}

/** Makes a page with its cursors. `positions`: those of its rows, or of the first and last of them. */
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
