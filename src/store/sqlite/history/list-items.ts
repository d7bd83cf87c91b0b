import type { StoredItem } from '../../log-entry.ts';
import type { HistoryPage, ItemQuery } from '../../page-query.ts';
import { itemNotFound, turnNotFound } from '../../store-error.ts';
import type { History, HistoryPosition } from './history.ts';
import { readItems } from './read-items.ts';

/**
 * A page of the items of a thread, as `thread/items/list` asks for it. Throws `turn_not_found` and
 * `item_not_found`.
 */
export function listItems(
  history: History,
  threadId: string,
  { turnId, fromTurnId, fromItemId, ...query }: ItemQuery,
): HistoryPage<StoredItem> {
  const turn = turnId == null ? null : requireTurn(history, threadId, turnId);
  const fromTurn = fromTurnId == null ? null : requireTurn(history, threadId, fromTurnId);
  const first = fromItemId == null ? null : history.findItem(fromItemId);
  if (fromItemId != null && (first === null || isOutside(history, first, turn)))
    throw itemNotFound(threadId, fromItemId);
  return readItems(history, query, { turn, fromTurn, first });
}

/** Where a turn begins. Throws `turn_not_found`. */
export function requireTurn(history: History, threadId: string, turnId: string): HistoryPosition {
  const turn = history.findTurn(turnId);
  if (turn === null) throw turnNotFound(threadId, turnId);
  return turn;
}

/** Whether a position is not within the turn that begins at `turn`. */
function isOutside(
  history: History,
  position: HistoryPosition,
  turn: HistoryPosition | null,
): boolean {
  return (
    turn !== null &&
    (history.compare(position, turn) < 0 || history.compare(position, history.nextTurn(turn)) >= 0)
  );
}
