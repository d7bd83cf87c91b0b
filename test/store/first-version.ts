import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { migrationsDir, type TempHome } from './temp-home.ts';

/**
 * The segments of each history as the first version had them: thread_id, position, log_id,
 * last_ordinal.
 */
const SEGMENTS = `
  WITH RECURSIVE chain (thread_id, id, distance) AS (
    SELECT thread_id, before_id, 1 FROM history WHERE before_id <> 0
    UNION ALL
    SELECT thread_id, s.before_id, distance + 1 FROM chain JOIN shared_segment AS s USING (id) WHERE s.before_id <> 0
  )
  SELECT thread_id, (SELECT count(*) FROM chain AS all_of WHERE all_of.thread_id = chain.thread_id) - distance, log_id, last_ordinal
    FROM chain JOIN shared_segment USING (id)
  UNION ALL
  SELECT thread_id, (SELECT count(*) FROM chain AS all_of WHERE all_of.thread_id = history.thread_id), log_id, NULL FROM history`;

/**
 * Turns a home's database, which no store has open, into one of the first version: its tables, with
 * their rows.
 */
export function asFirstVersion(home: TempHome): void {
  const draft = `${home.file}.first`;
  const first = neverCollect(new Database(draft));
  first.pragma('foreign_keys = OFF');
  first.exec(readFileSync(join(migrationsDir, '0001_threads.sql'), 'utf8'));
  const tables = first
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  home.sql((db) => {
    for (const table of tables) {
      const columns = first
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .pluck()
        .all() as string[];
      const insert = first.prepare(
        `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
      );
      const rows = table === 'segment' ? SEGMENTS : `SELECT ${columns.join()} FROM ${table}`;
      for (const row of db.prepare(rows).raw().all()) insert.run(row);
    }
  });
  first.pragma('journal_mode = WAL');
  first.pragma('user_version = 1');
  first.close();
  for (const end of ['-wal', '-shm']) rmSync(home.file + end, { force: true });
  renameSync(draft, home.file);
}
