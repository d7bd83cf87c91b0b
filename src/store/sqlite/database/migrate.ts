import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { defineFolded } from '../threads/fold-case.ts';

/** The number of the newest file in `migrations/`: what `PRAGMA user_version` of an up-to-date database says. */
export const SCHEMA_VERSION = 6;

/** Brings a database up to date: all of the missing migrations or none, also when two processes try at once. */
export function migrate(db: Database, migrationsDir: string): void {
  const names = readdirSync(migrationsDir)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort();
  defineFolded(db);
  const run = db.transaction(() => {
    for (const name of names.slice(schemaVersion(db), SCHEMA_VERSION)) db.exec(readFileSync(join(migrationsDir, name), 'utf8'));
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  });
  run.immediate();
}

export function schemaVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
