import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { Connect } from '../../src/store/sqlite/database/load-sqlite.ts';
import { neverCollect } from '../../src/store/sqlite/database/load-sqlite.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { FakeClock } from '../support/fake-clock.ts';

export const migrationsDir = join(import.meta.dirname, '../../migrations');

/** A home in a folder of its own, which is removed after the test. */
export class TempHome {
  readonly clock = new FakeClock();
  /** The folder of everything that the test makes. */
  readonly folder = mkdtempSync(join(tmpdir(), 'heddle-store-'));
  readonly home = join(this.folder, 'home');
  readonly file = join(this.home, 'heddle.db');
  readonly warnings: string[] = [];
  readonly #stores: ThreadStore[] = [];

  /** Opens a store as another process would. */
  open(connect?: Connect): ThreadStore {
    const ignore = () => {};
    const log = {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (_fields: unknown, text?: string) => void this.warnings.push(text ?? ''),
    };
    const { file, clock, folder } = this;
    const store = createSqliteStore({
      file,
      migrationsDir,
      tempDir: folder,
      nodeVersions: process.versions,
      clock,
      log,
      pid: 42,
      ...(connect && { connect }),
    });
    this.#stores.push(store);
    return store;
  }

  /** Reads or changes the database without the store. */
  sql<T>(work: (db: Database.Database) => T): T {
    const db = neverCollect(new Database(this.file));
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  count(table: string): number {
    return this.sql((db) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()));
  }

  async dispose(): Promise<void> {
    for (const store of this.#stores) await store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function tempHome(): TempHome {
  const home = new TempHome();
  onTestFinished(() => home.dispose());
  return home;
}
