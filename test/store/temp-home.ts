import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Connect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { SqliteStoreOptions } from '../../src/store/sqlite/store-access.ts';
import { StoreConnection } from '../../src/store/sqlite/threads/store-connection.ts';
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
  /** The messages to users about repairs. */
  readonly repairs: string[] = [];
  readonly #stores: { close(): Promise<void> }[] = [];

  /** Opens a store as another process would. */
  open(connect?: Connect, options: Partial<SqliteStoreOptions> = {}): ThreadStore {
    return this.closeAtEnd(
      createSqliteStore({ ...this.options(), ...(connect && { connect }), ...options }),
    );
  }

  /** Opens a store as another process would, below its interface, which is asynchronous. */
  connect(): StoreConnection {
    return this.closeAtEnd(
      new StoreConnection({
        onRepaired: () => {},
        ...this.options(),
        connect: (file, options) => neverCollect(new Database(file, { timeout: 0, ...options })),
      }),
    );
  }

  closeAtEnd<T extends { close(): Promise<void> }>(store: T): T {
    this.#stores.push(store);
    return store;
  }

  options(): SqliteStoreOptions {
    const ignore = () => {};
    const log = {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (_fields: unknown, text?: string) => void this.warnings.push(text ?? ''),
    };
    const { file, clock, folder } = this;
    const onRepaired = (message: string) => void this.repairs.push(message);
    return {
      file,
      migrationsDir,
      tempDir: folder,
      clock,
      log,
      pid: 42,
      nodeVersions: process.versions,
      onRepaired,
    };
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

  /** The names of the lock files of owners. */
  lockFiles(): string[] {
    return readdirSync(join(this.home, 'heddle-writers')).filter((name) => name.endsWith('.lock'));
  }

  count(table: string): number {
    return this.sql((db) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()));
  }

  async closeAll(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async dispose(): Promise<void> {
    await this.closeAll();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function tempHome(): TempHome {
  const home = new TempHome();
  onTestFinished(() => home.dispose());
  return home;
}
