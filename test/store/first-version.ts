import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { neverCollect } from '../../src/store/sqlite/database/load-sqlite.ts';
import { migrationsDir, type TempHome } from './temp-home.ts';

/** Turns a home's database, which no store has open, into one of the first version: its tables, with their rows. */
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
      const columns = first.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all() as string[];
      const insert = first.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`);
      for (const row of db.prepare(`SELECT ${columns.join()} FROM ${table}`).raw().all()) insert.run(row);
    }
  });
  first.pragma('journal_mode = WAL');
  first.pragma('user_version = 1');
  first.close();
  for (const end of ['-wal', '-shm']) rmSync(home.file + end, { force: true });
  renameSync(draft, home.file);
}
