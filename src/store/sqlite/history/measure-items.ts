import type { History, HistoryPosition } from './history.ts';
import { historyCursor, pageRange } from './history-page.ts';

/** How many rows one call measures, so that it takes a few milliseconds. */
const ROWS_MAX = 2_000;

/**
 * Measures a part of the items of a history, or of the turn that begins at `turn`, without reading
 * what is stored apart from them.
 */
export function measureItems(
  history: History,
  { cursor, turn }: { cursor: string | null; turn: HistoryPosition | null },
): { bytes: number; nextCursor: string | null } {
  const { from, to } = pageRange(history, 'items', { cursor, direction: 'asc' });
  const [first, end] =
    turn === null ? [from, to] : [cursor === null ? turn : from, history.nextTurn(turn)];
  const { bytes, last, count } = history.measure(first, end, {
    selection: 'items',
    limit: ROWS_MAX,
  });
  return {
    bytes,
    nextCursor: last === null || count < ROWS_MAX ? null : historyCursor('items', last),
  };
}
