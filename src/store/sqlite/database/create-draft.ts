import { closeSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Connect } from './load-sqlite.ts';
import { migrate } from './migrate.ts';

export interface DraftDeps {
  migrationsDir: string;
  connect: Connect;
}

/**
 * Makes an empty database for `fill`, and closes it. It is then one file without a WAL, whose data is not on the disk yet. If the
 * process dies, an incomplete file stays.
 */
export function createDraft(path: string, { migrationsDir, connect }: DraftDeps, fill: (db: Database) => void = () => {}): void {
  closeSync(openSync(path, 'wx', 0o600));
  const db = connect(path);
  try {
    // Only a database without tables can get it: free pages can be returned in small parts.
    db.pragma('auto_vacuum = INCREMENTAL');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = OFF');
    migrate(db, migrationsDir);
    fill(db);
  } finally {
    db.close();
  }
}
