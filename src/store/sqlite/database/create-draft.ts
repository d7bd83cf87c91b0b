import { closeSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Connect } from '../connect/load-sqlite.ts';
import { migrate } from './migrate.ts';

export interface DraftDeps {
  migrationsDir: string;
  connect: Connect;
}

/**
 * Each commit writes whole pages to the WAL, and most change a few hundred bytes here and there.
 * Pages of 1 KB make the WAL of a turn a third of that of 4 KB; smaller ones would not hold the
 * entries of the indexes. Incremental vacuum lets the file shrink in small parts.
 */
export const FILE_FORMAT = 'PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL;';

/**
 * Makes an empty database for `fill`, and closes it. It is then one file without a WAL, whose data
 * is not on the disk yet. If the process dies, an incomplete file stays.
 */
export function createDraft(
  path: string,
  { migrationsDir, connect }: DraftDeps,
  fill: (db: Database) => void = () => {},
): void {
  closeSync(openSync(path, 'wx', 0o600));
  const db = connect(path);
  try {
    // Only a database without tables can get these.
    db.exec(FILE_FORMAT);
    // Before the change of the journal, which would wait for the disk.
    db.pragma('synchronous = OFF');
    db.pragma('journal_mode = WAL');
    migrate(db, migrationsDir);
    fill(db);
  } finally {
    db.close();
  }
}
