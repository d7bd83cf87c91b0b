import type { Database } from 'better-sqlite3';
import { SegmentRows } from '../history/segment-rows.ts';
import { unlessDamaged } from './readable-rows.ts';
import type { SalvageSource } from './salvage-source.ts';
import type { SalvageTarget } from './salvage-target.ts';

/** A thread and its own log. */
interface Owner {
  threadId: string;
  logId: number;
}

/** A history of a database before version 8, which had a list of segments for each thread. */
interface ListedSegment {
  position: number;
  log_id: number;
  last_ordinal: number | null;
}

/**
 * Returns a function that copies the history of a thread, and returns false if a part of it is
 * lost. Such a history has what comes after the lost part, at least the thread's own log. Copies
 * the segments that histories share at once, so that `dropUnusedSegments` must follow.
 */
export function historyCopier(
  from: SalvageSource,
  target: SalvageTarget,
): (owner: Owner) => boolean {
  return from.hasTable('segment') && !from.hasTable('history')
    ? listedCopier(from, target)
    : sharingCopier(from, target);
}

/** Removes the segments that no history has. */
export function dropUnusedSegments({ db }: SalvageTarget): void {
  db.exec(`
    WITH RECURSIVE used (id) AS (
      SELECT before_id FROM history
      UNION
      SELECT s.before_id FROM used JOIN shared_segment AS s USING (id)
    )
    DELETE FROM shared_segment WHERE id NOT IN (SELECT id FROM used)`);
}

function sharingCopier(from: SalvageSource, target: SalvageTarget): (owner: Owner) => boolean {
  const segments = copySegments(from, target);
  const historyOf = unlessDamaged(() =>
    from.db.prepare<[string], { before_id: unknown; log_id: unknown }>(
      'SELECT before_id, log_id FROM history WHERE thread_id = ?',
    ),
  );
  return ({ threadId, logId }) => {
    const history = unlessDamaged(() => historyOf?.get(threadId));
    const beforeId = history?.log_id === logId ? history.before_id : null;
    const before = segments.get(beforeId);
    target.insert('history', {
      thread_id: threadId,
      before_id: before === undefined ? 0 : beforeId,
      log_id: logId,
    });
    return before?.isWhole ?? false;
  };
}

/**
 * Copies the segments that histories share, with their ids. A segment has a larger id than the one
 * before it, so that one is known already, or it is lost. Returns by id whether all segments before
 * it are there; 0 is the beginning of all histories.
 */
function copySegments(
  from: SalvageSource,
  target: SalvageTarget,
): Map<unknown, { isWhole: boolean }> {
  const segments = new Map<unknown, { isWhole: boolean }>([[0, { isWhole: true }]]);
  for (const { rowid, ...segment } of from.rows('shared_segment', [
    'before_id',
    'log_id',
    'last_ordinal',
  ])) {
    const before = segments.get(segment.before_id);
    const copied = target.insert('shared_segment', {
      ...segment,
      id: rowid,
      before_id: before === undefined ? 0 : segment.before_id,
    });
    if (copied) segments.set(rowid, { isWhole: before?.isWhole ?? false });
  }
  return segments;
}

function listedCopier(from: SalvageSource, target: SalvageTarget): (owner: Owner) => boolean {
  const segmentsOf = listReader(from.db);
  const rows = new SegmentRows(target.db);
  return ({ threadId, logId }) => {
    const segments = segmentsOf(threadId);
    const isWhole = segments !== null && isHistory(segments, logId);
    const shared = isWhole
      ? segments
          .slice(0, -1)
          .map(({ log_id, last_ordinal }) => ({ logId: log_id, last: Number(last_ordinal) }))
      : [];
    rows.set(threadId, shared, logId);
    return isWhole;
  };
}

function listReader(db: Database): (threadId: string) => ListedSegment[] | null {
  const segmentsOf = unlessDamaged(() =>
    db.prepare<[string], ListedSegment>(
      'SELECT position, log_id, last_ordinal FROM segment WHERE thread_id = ? ORDER BY position',
    ),
  );
  return (threadId) => (segmentsOf === null ? null : unlessDamaged(() => segmentsOf.all(threadId)));
}

/** Whether the segments are a history whose own log is the last one. */
function isHistory(segments: readonly ListedSegment[], ownLogId: number): boolean {
  const isInOrder = segments.every(({ position, log_id, last_ordinal }, index) => {
    const isLast = index === segments.length - 1;
    return (
      position === index &&
      Number.isSafeInteger(log_id) &&
      (isLast ? last_ordinal === null : Number.isSafeInteger(last_ordinal))
    );
  });
  return isInOrder && segments.at(-1)?.log_id === ownLogId;
}
