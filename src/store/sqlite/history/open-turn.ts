import type { OpenTurn } from '../../settling-entries.ts';
import type { History, HistoryPosition } from './history.ts';

/**
 * Returns the turn that has begun before a position and not ended before it, or null if there is
 * none.
 */
export function openTurn(history: History, before: HistoryPosition): OpenTurn | null {
  const mark = history.lastMark(before);
  if (mark === null || mark.kind === 'turnEnded') return null;
  const [row] = history.rows(mark, before, { selection: 'turnMarks', direction: 'asc', limit: 1 });
  const entry = row && history.parse(row);
  if (entry?.kind !== 'turnStarted') return null;
  const { turnId, startedAtMs, isReview } = entry;
  return { turnId, startedAtMs, ...(isReview === undefined ? {} : { isReview }) };
}
