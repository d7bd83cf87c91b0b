import { decodeCursor, encodeCursor } from '../../encode-cursor.ts';
import { type Page, type PageQuery, SLICE_BYTES_MAX, type SliceQuery } from '../../page-query.ts';
import { invalidStoreCursor } from '../../store-error.ts';
import type { History } from './history.ts';
import { type HistoryPosition, positionAfter } from './log-row.ts';

/** The most entries on a page, so that reading it takes a few milliseconds. */
export const ENTRIES_MAX = 1_000;

/** The lists over a history. A cursor of one is invalid for the other. */
export type HistoryList = 'turns' | 'items' | 'model';

/** The range of a history that a page is taken from. Throws `invalid_cursor`. */
export function pageRange(
  history: History,
  list: HistoryList,
  { cursor, direction }: PageQuery,
): { from: HistoryPosition; to: HistoryPosition } {
  if (cursor == null) return { from: history.start, to: history.end };
  const [name, logId, ordinal, inclusive] = decodeCursor(cursor, ['', 0, 0, 0]);
  const position = { logId, ordinal };
  if (name !== list || !history.holds(position)) throw invalidStoreCursor(cursor);
  return inclusive
    ? rangeFrom(history, position, { direction })
    : rangeBehind(history, position, { direction });
}

/** The range that a page is taken from if it begins with the row at a position. */
export function rangeFrom(
  history: History,
  position: HistoryPosition,
  { direction }: Pick<PageQuery, 'direction'>,
): { from: HistoryPosition; to: HistoryPosition } {
  return direction === 'asc'
    ? { from: position, to: history.end }
    : { from: history.start, to: positionAfter(position) };
}

function rangeBehind(
  history: History,
  position: HistoryPosition,
  { direction }: Pick<PageQuery, 'direction'>,
): { from: HistoryPosition; to: HistoryPosition } {
  return direction === 'asc'
    ? { from: positionAfter(position), to: history.end }
    : { from: history.start, to: position };
}

/**
 * The number of rows to read for a page: one more than it shows, to find out whether there are
 * more.
 */
export function rowLimit({ limit = ENTRIES_MAX }: PageQuery, max = ENTRIES_MAX): number {
  return Math.min(Math.max(1, limit), max) + 1;
}

export function bytesLimit({ bytesMax = SLICE_BYTES_MAX }: SliceQuery): number {
  return bytesMax;
}

/** The cursor that continues after the entry at a position. */
export function historyCursor(list: HistoryList, { logId, ordinal }: HistoryPosition): string {
  return encodeCursor([list, logId, ordinal, 0]);
}

/**
 * Makes a page with its cursors. `positions`: those of its rows, or of the first and last of them.
 */
export function historyPage<T>(
  list: HistoryList,
  data: T[],
  { positions, more }: { positions: HistoryPosition[]; more: boolean },
): Page<T> {
  const [first, last] = [positions[0], positions.at(-1)];
  return {
    data,
    nextCursor: more && last !== undefined ? historyCursor(list, last) : null,
    backwardsCursor:
      first === undefined ? null : encodeCursor([list, first.logId, first.ordinal, 1]),
  };
}
