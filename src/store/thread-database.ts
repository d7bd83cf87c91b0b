import type { Database } from 'better-sqlite3';
import { Blobs } from './blobs.ts';
import { DiscardedLogs } from './discarded-logs.ts';
import { LogRows } from './log-rows.ts';
import { PartialRows } from './partial-rows.ts';
import { ThreadRows } from './thread-rows.ts';

/** One SQLite database of threads: the file, or the one in memory for ephemeral threads. Both have the same tables. */
export class ThreadDatabase {
  readonly db: Database;
  readonly inMemory: boolean;
  readonly threads: ThreadRows;
  readonly logs: LogRows;
  readonly partials: PartialRows;
  readonly discarded: DiscardedLogs;
  readonly #transaction;

  constructor(db: Database, inMemory: boolean) {
    this.db = db;
    this.inMemory = inMemory;
    const blobs = new Blobs(db);
    this.threads = new ThreadRows(db, blobs);
    this.logs = new LogRows(db, blobs, inMemory);
    this.partials = new PartialRows(db);
    this.discarded = new DiscardedLogs(db);
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  /** Reads that belong together see one state. */
  read<T>(work: () => T): T {
    return this.#transaction.deferred(work) as T;
  }

  /** All of it or nothing, and no other process writes between. With `durable` it survives the death of the machine. */
  write<T>(work: () => T, durable = false): T {
    if (!durable) return this.#transaction.immediate(work) as T;
    this.db.exec('PRAGMA synchronous = FULL');
    try {
      return this.#transaction.immediate(work) as T;
    } finally {
      this.db.exec('PRAGMA synchronous = NORMAL');
    }
  }
}
