import type { Database } from 'better-sqlite3';

/** The readers of a log skip this record, as they skip any kind that they do not know. */
const LOST = JSON.stringify({ kind: 'lost', turnId: null });
/**
 * A log that lacks more records ends at the last one that is there: the number of its end is
 * damaged.
 */
const GAP_MAX = 1_000_000;

/** The logs of all histories, and the ordinals that they must reach. */
export const NEEDED_ENDS = `SELECT log_id, last_ordinal AS last FROM shared_segment
  UNION ALL SELECT history.log_id, tip FROM history JOIN thread ON thread.id = thread_id`;

/** The threads whose histories hold a log. */
const THREADS_OF_LOG = `
  WITH RECURSIVE holding (id) AS (
    SELECT id FROM shared_segment WHERE log_id = @logId
    UNION
    SELECT s.id FROM holding JOIN shared_segment AS s ON s.before_id = holding.id
  )
  SELECT thread_id FROM history WHERE log_id = @logId
  UNION
  SELECT thread_id FROM holding JOIN history ON history.before_id = holding.id`;

/** Whether a log, or one before it in a history, has the start of a turn. */
const START_OF_TURN = `
  WITH RECURSIVE earlier (id) AS (
    SELECT before_id FROM history WHERE log_id = @logId
    UNION
    SELECT before_id FROM shared_segment WHERE log_id = @logId
    UNION
    SELECT s.before_id FROM earlier JOIN shared_segment AS s ON s.id = earlier.id
  )
  SELECT 1 FROM entry WHERE kind = 'turnStarted' AND turn_id = @turnId
    AND log_id IN (SELECT @logId UNION SELECT log_id FROM earlier JOIN shared_segment USING (id)) LIMIT 1`;

interface Need {
  log_id: number;
  /** The ordinal that the log must reach. */
  last: number;
  count: number;
  max: number;
}

/** The logs that lack records that a history needs, and how many. */
export function gapsOf(db: Database): (Need & { missing: number })[] {
  const needs = db.prepare<[], Need>(`
    SELECT need.log_id, need.last, count(entry.ordinal) AS count, coalesce(max(entry.ordinal), 0) AS max FROM
      (SELECT log_id, max(last) AS last FROM (${NEEDED_ENDS}) GROUP BY log_id) AS need
      LEFT JOIN entry ON entry.log_id = need.log_id GROUP BY need.log_id
  `);
  return needs.all().flatMap((need) => {
    const missing = Math.max(need.last, need.max) - need.count;
    return missing === 0 ? [] : [{ ...need, missing }];
  });
}

interface EntryRow {
  ordinal: number;
  kind: string;
  turn_id: string | null;
}

/**
 * Puts a record of the kind `lost` in the place of each record that the histories need and the logs
 * do not have, and the start of a turn in the place of the last one before a record of a turn whose
 * start was lost. Makes each thread's tip the end of its log. Returns the numbers of lost records
 * by thread. Call it within a transaction.
 */
export function fillGaps(db: Database): Map<string, number> {
  boundEnds(db);
  const threadsOf = db.prepare<[{ logId: number }], string>(THREADS_OF_LOG).pluck();
  const lost = new Map<string, number>();
  for (const gap of gapsOf(db)) {
    fillLog(db, gap);
    for (const id of threadsOf.all({ logId: gap.log_id }))
      lost.set(id, (lost.get(id) ?? 0) + gap.missing);
  }
  return lost;
}

/** Brings the tips and the ends of segments into agreement with the logs. */
function boundEnds(db: Database): void {
  const lastOf = (log: string) =>
    `coalesce((SELECT max(ordinal) FROM entry WHERE log_id = ${log}), 0)`;
  db.exec(`
    UPDATE thread SET tip = ${lastOf('thread.log_id')}
      WHERE tip < ${lastOf('thread.log_id')} OR tip > ${lastOf('thread.log_id')} + ${GAP_MAX};
    UPDATE shared_segment SET last_ordinal = ${lastOf('shared_segment.log_id')}
      WHERE last_ordinal < 0 OR last_ordinal > ${lastOf('shared_segment.log_id')} + ${GAP_MAX};
  `);
}

function fillLog(db: Database, { log_id, last, max }: Need): void {
  const rows = db
    .prepare<[number], EntryRow>(
      'SELECT ordinal, kind, turn_id FROM entry WHERE log_id = ? ORDER BY ordinal',
    )
    .all(log_id);
  const payloadOf = db
    .prepare<[number, number], string>('SELECT payload FROM entry WHERE log_id = ? AND ordinal = ?')
    .pluck();
  const startOf = db
    .prepare<[{ logId: number; turnId: string | null }], number>(START_OF_TURN)
    .pluck();
  const insert = db.prepare(
    'INSERT INTO entry (log_id, ordinal, kind, turn_id, payload) VALUES (?, ?, ?, ?, ?)',
  );
  const end = Math.max(last, max);
  let ordinal = 1;
  for (const row of [...rows, null]) {
    const next = row?.ordinal ?? end + 1;
    for (; ordinal < next; ordinal++) {
      const isStart =
        row !== null &&
        ordinal === next - 1 &&
        needsStart(row) &&
        startOf.get({ logId: log_id, turnId: row.turn_id }) === undefined;
      if (isStart)
        insert.run(
          log_id,
          ordinal,
          'turnStarted',
          row.turn_id,
          turnStart(row.turn_id, payloadOf.get(log_id, next)),
        );
      else insert.run(log_id, ordinal, 'lost', null, LOST);
    }
    ordinal = next + 1;
  }
}

function needsStart({ kind, turn_id }: EntryRow): boolean {
  return turn_id !== null && kind !== 'turnStarted' && kind !== 'lateItem';
}

/** The start of a turn whose own start was lost, at the earliest time that is known of it. */
function turnStart(turnId: string | null, payload = '{}'): string {
  const { startedAtMs } = JSON.parse(payload) as { startedAtMs?: unknown };
  return JSON.stringify({
    kind: 'turnStarted',
    turnId,
    startedAtMs: typeof startedAtMs === 'number' ? startedAtMs : 0,
  });
}
