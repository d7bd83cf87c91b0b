import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadSqlite } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { createDraft } from '../../src/store/sqlite/database/create-draft.ts';

let made: Promise<Buffer> | null = null;

/**
 * The bytes of a database as the store makes it for a new home. To make one takes longer than most
 * tests, so all tests of a file get these.
 */
export function emptyDatabase(): Promise<Buffer> {
  made ??= make();
  return made;
}

async function make(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-'));
  const file = join(folder, 'heddle.db');
  try {
    createDraft(file, {
      migrationsDir: join(dirname(dirname(import.meta.dirname)), 'migrations'),
      connect: await loadSqlite(process.versions),
    });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
