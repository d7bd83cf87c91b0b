import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { defineFolded } from '../thread-table/define-folded.ts';

/**
 * The number of the newest file in `migrations/`, and the `user_version` of an up-to-date database.
 */
export const SCHEMA_VERSION = 15;

/** Runs all missing migrations in one transaction. Two processes can do it at once. */
export function migrate(db: Database, migrationsDir: string): void {
  const names = readdirSync(migrationsDir)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort();
  defineFolded(db);
  const run = db.transaction(() => {
    for (const name of names.slice(schemaVersion(db), SCHEMA_VERSION))
      db.exec(readFileSync(join(migrationsDir, name), 'utf8'));
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  });
  run.immediate();
}

export function schemaVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
