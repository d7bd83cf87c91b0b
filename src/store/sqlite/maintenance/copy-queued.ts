import type { SalvageSource } from './salvage-source.ts';
import type { SalvageTarget } from './salvage-target.ts';

/** The number of the entries of queues without what they say. */
const LOST_QUEUED = `
  SELECT count(*) FROM thread, json_each(thread.queue, '$.waiting') AS entry WHERE NOT EXISTS (
    SELECT 1 FROM queued_submission AS row WHERE row.thread_id = thread.id AND row.id = entry.value ->> '$.id'
  )`;

/** Copies what the entries of queues say. A queue whose entry is lost goes on without it. */
export function copyQueued(from: SalvageSource, target: SalvageTarget): void {
  if (!from.hasTable('queued_submission')) return;
  const logOf = target.db
    .prepare<[unknown], number>('SELECT log_id FROM thread WHERE id = ?')
    .pluck();
  const isJson = target.db.prepare<[unknown], number>('SELECT json_valid(?)').pluck();
  for (const { rowid: _, ...row } of from.rows('queued_submission', [
    'thread_id',
    'id',
    'payload',
  ])) {
    const logId = logOf.get(row.thread_id);
    if (logId === undefined || isJson.get(row.payload) !== 1) continue;
    if (target.insert('queued_submission', row)) target.noteBlobs(logId, String(row.payload));
  }
}

/** The number of entries of queues that are lost. */
export function lostQueued({ db }: SalvageTarget): number {
  return Number(db.prepare(LOST_QUEUED).pluck().get());
}
