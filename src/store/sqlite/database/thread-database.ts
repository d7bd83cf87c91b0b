import type { Database } from 'better-sqlite3';
import type { Log } from '../../../base/log.ts';
import { Blobs } from '../history/blobs.ts';
import { DiscardedLogs } from '../history/discarded-logs.ts';
import { LogRows } from '../history/log-rows.ts';
import type { LongTexts } from '../history/long-texts.ts';
import { PartialRows } from '../history/partial-rows.ts';
import { SegmentRows } from '../history/segment-rows.ts';
import { QueueRows } from '../thread-table/queue-rows.ts';
import { isIndexDamage, rebuildIndex } from '../thread-table/rebuild-index.ts';
import { ThreadRows } from '../thread-table/thread-rows.ts';
import { FreePages } from './free-pages.ts';

/**
 * A SQLite database of threads: the file, or the database in memory for ephemeral threads. Both
 * have the same tables.
 */
export class ThreadDatabase {
  readonly db: Database;
  readonly inMemory: boolean;
  readonly blobs: Blobs;
  readonly threads: ThreadRows;
  readonly logs: LogRows;
  readonly segments: SegmentRows;
  readonly partials: PartialRows;
  readonly queues: QueueRows;
  readonly discarded: DiscardedLogs;
  readonly freePages: FreePages;
  readonly #log: Log;
  readonly #transaction;

  constructor(
    db: Database,
    { inMemory, log, longTexts }: { inMemory: boolean; log: Log; longTexts?: LongTexts },
  ) {
    this.db = db;
    this.inMemory = inMemory;
    this.#log = log;
    const blobs = new Blobs(db, longTexts);
    this.blobs = blobs;
    this.threads = new ThreadRows(db, blobs);
    this.logs = new LogRows(db, blobs, inMemory);
    this.segments = new SegmentRows(db);
    this.partials = new PartialRows(db, blobs);
    this.queues = new QueueRows(db, blobs);
    this.discarded = new DiscardedLogs(db);
    this.freePages = new FreePages(db);
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  /** Runs reads that must see one state of the database. */
  read<T>(work: () => T): T {
    return this.#withIndex(() => this.#transaction.deferred(work) as T);
  }

  /** Runs a write in a transaction that excludes other writers. */
  write<T>(work: () => T): T {
    return this.#withIndex(() => this.#transaction.immediate(work) as T);
  }

  /**
   * Runs a part of a write. If it throws, and `db.inTransaction` is still true, nothing of the part
   * stays.
   */
  part(work: () => void): void {
    this.#transaction(work);
  }

  /**
   * Repeats a transaction that failed because the search index is damaged, once the index has been
   * rebuilt.
   */
  #withIndex<T>(transact: () => T): T {
    try {
      return transact();
    } catch (error) {
      if (!isIndexDamage(error) || this.db.inTransaction) throw error;
      this.#transaction.immediate(() => rebuildIndex(this.db));
      this.#log.warn({ err: error }, 'the search index was damaged and has been rebuilt');
      return transact();
    }
  }
}
