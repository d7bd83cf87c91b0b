import type { Database } from 'better-sqlite3';

/** The readers of a log skip this record, as they skip any kind that they do not know. */
const LOST = JSON.stringify({ kind: 'lost', turnId: null });
/** A log that lacks more records ends at the last one that is there: the number of its end is damaged. */
const GAP_MAX = 1_000_000;

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
      (SELECT log_id, max(coalesce(last_ordinal, (SELECT tip FROM thread WHERE id = thread_id))) AS last FROM segment GROUP BY log_id) AS need
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
 * Puts a record of the kind `lost` in the place of each record that the histories need and the logs do not have, and the start of
 * a turn in the place of the last one before a record of a turn whose start was lost. Makes each thread's tip the end of its log.
 * Returns the numbers of lost records by thread. Call it within a transaction.
 */
export function fillGaps(db: Database): Map<string, number> {
  boundEnds(db);
  const threadsOf = db.prepare<[number], string>('SELECT thread_id FROM segment WHERE log_id = ?').pluck();
  const lost = new Map<string, number>();
  for (const gap of gapsOf(db)) {
    fillLog(db, gap);
    for (const id of threadsOf.all(gap.log_id)) lost.set(id, (lost.get(id) ?? 0) + gap.missing);
  }
  return lost;
}

/** Brings the tips and the ends of segments into agreement with the logs. */
function boundEnds(db: Database): void {
  const lastOf = (log: string) => `coalesce((SELECT max(ordinal) FROM entry WHERE log_id = ${log}), 0)`;
  db.exec(`
    UPDATE thread SET tip = ${lastOf('thread.log_id')}
      WHERE tip < ${lastOf('thread.log_id')} OR tip > ${lastOf('thread.log_id')} + ${GAP_MAX};
    UPDATE segment SET last_ordinal = ${lastOf('segment.log_id')}
      WHERE last_ordinal IS NOT NULL AND (last_ordinal < 0 OR last_ordinal > ${lastOf('segment.log_id')} + ${GAP_MAX});
  `);
}

function fillLog(db: Database, { log_id, last, max }: Need): void {
  const rows = db.prepare<[number], EntryRow>('SELECT ordinal, kind, turn_id FROM entry WHERE log_id = ? ORDER BY ordinal').all(log_id);
  const payloadOf = db.prepare<[number, number], string>('SELECT payload FROM entry WHERE log_id = ? AND ordinal = ?').pluck();
  const startOf = db
    .prepare<[number, string | null], number>(
      `SELECT 1 FROM segment AS own JOIN segment AS other USING (thread_id) JOIN entry ON entry.log_id = other.log_id
       WHERE own.log_id = ? AND kind = 'turnStarted' AND turn_id = ? LIMIT 1`,
    )
    .pluck();
  const insert = db.prepare('INSERT INTO entry (log_id, ordinal, kind, turn_id, payload) VALUES (?, ?, ?, ?, ?)');
  const end = Math.max(last, max);
  let ordinal = 1;
  for (const row of [...rows, null]) {
    const next = row?.ordinal ?? end + 1;
    for (; ordinal < next; ordinal++) {
      const isStart = row !== null && ordinal === next - 1 && needsStart(row) && startOf.get(log_id, row.turn_id) === undefined;
      if (isStart) insert.run(log_id, ordinal, 'turnStarted', row.turn_id, turnStart(row.turn_id, payloadOf.get(log_id, next)));
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
  return JSON.stringify({ kind: 'turnStarted', turnId, startedAtMs: typeof startedAtMs === 'number' ? startedAtMs : 0 });
}
