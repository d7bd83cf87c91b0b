import { setImmediate as nextRound } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { noStoredThread } from '../store-error.ts';
import { commitTogether } from './commit-together.ts';
import {
  asStoreError,
  isFileDamage,
  isReadOnly,
  locked,
  readOnly,
} from './connect/as-store-error.ts';
import { IdleWork } from './database/idle-work.ts';
import { lockHolder } from './database/lock-holder.ts';
import { openInMemory } from './database/open-database.ts';
import { sweepLitter } from './database/sweep-litter.ts';
import { ThreadDatabase } from './database/thread-database.ts';
import type { LogsOf } from './history/history.ts';
import { makeDurable } from './make-durable.ts';
import { StoreFile, type StoreFileOptions } from './store-file.ts';
import type { OpenedStore } from './store-opener.ts';
import { type JoinedWrite, StoreQueue } from './store-queue.ts';
import { isIndexDamage } from './thread-table/rebuild-index.ts';

export interface StoreConnectionOptions extends StoreFileOptions {
  /** Measures the waiting for locks of other processes. Tests set it: it takes long. */
  waitClock?: Clock;
}

/**
 * The databases of an open store: the file, and the one in memory for ephemeral threads. Runs reads
 * and writes, and the work that is done while nothing else is.
 */
export abstract class StoreDatabases {
  /** Every call goes through it. */
  readonly queue: StoreQueue;
  protected readonly options: StoreConnectionOptions;
  readonly #file: StoreFile;
  readonly #idleWork: IdleWork;
  #memory: ThreadDatabase | null = null;
  #sweeping: Promise<void> | null = null;

  constructor(options: StoreConnectionOptions) {
    this.options = options;
    this.#file = new StoreFile(options, {
      onRequest: () => this.queue.read(() => this.call(() => {})),
      takeAgain: () => this.takeAgain(),
    });
    this.queue = new StoreQueue({
      commit: (writes) => this.#commit(writes),
      lockedFor: (ms) => locked(options.file, ms, lockHolder(options.file)),
      ...(options.waitClock && { clock: options.waitClock }),
    });
    this.#idleWork = new IdleWork({
      clock: options.clock,
      log: options.log,
      collect: () => {
        this.#sweeping ??= sweepLitter({ ...options, owners: () => this.store.leases.owners() });
        return this.#collect();
      },
      checkpoint: () => this.disk.db.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    });
  }

  protected get store(): OpenedStore {
    return this.#file.current;
  }

  /** The database of the file, or a copy of it if the file can only be read. */
  get disk(): ThreadDatabase {
    return this.store.disk;
  }

  /**
   * Runs a call on a database that is up to date. If the call fails because the database can only
   * be read, opens the database again and repeats the call: the file may have become writable, or
   * the obstacle may be gone.
   */
  call<T>(work: (connection: this) => T): T {
    return this.guard(() => {
      if (this.store.opened.readOnly && this.store.opened.isOutdated()) this.#file.reopen();
      try {
        return this.#file.mending(() => work(this));
      } catch (error) {
        if (!isReadOnly(error, this.options.file) || this.isWriting()) throw error;
        this.#file.reopen();
        return work(this);
      }
    });
  }

  now(): number {
    return this.options.clock.now();
  }

  /** The logs of the database that has this log. Logs in memory have negative ids. */
  readonly logsOf: LogsOf = (logId) => (logId < 0 ? this.#openMemory().logs : this.disk.logs);

  /** The database for a new thread. Throws `store_read_only`. */
  databaseFor({ ephemeral }: { ephemeral: boolean }): ThreadDatabase {
    return ephemeral ? this.#openMemory() : this.writable(this.disk);
  }

  /** The database that has the thread. Throws `thread_not_found`. */
  databaseOf(threadId: string): ThreadDatabase {
    const found = this.databases().find((database) => database.threads.tip(threadId) !== null);
    if (found === undefined) throw noStoredThread(threadId);
    return found;
  }

  databases(): ThreadDatabase[] {
    return this.#memory === null ? [this.disk] : [this.disk, this.#memory];
  }

  /** Returns the database, or throws `store_read_only` if it can only be read. */
  writable(database: ThreadDatabase): ThreadDatabase {
    if (this.store.opened.readOnly && !database.inMemory) throw readOnly(this.options.file);
    return database;
  }

  /** Runs a write in which this process may take threads of the database. */
  writeAsOwner<T>(database: ThreadDatabase, work: () => T): T {
    // Dead processes may have held logs, which nothing needs now.
    if (!database.inMemory && this.store.leases.becomeOwner((clear) => database.write(clear))) {
      this.store.watch?.holds(this.store.leases.lockFile);
      this.#idleWork.discarded();
    }
    return this.write(database, work);
  }

  write<T>(database: ThreadDatabase, work: () => T): T {
    if (database.inMemory) return database.write(work);
    const kept = () => {
      const result = work();
      this.store.watch?.assertKept();
      return result;
    };
    try {
      const result = database.write(kept);
      this.store.watch?.committed();
      this.#idleWork.wrote();
      return result;
    } catch (error) {
      this.store.watch?.rescue();
      throw error;
    }
  }

  /**
   * Runs `work`. Turns errors of SQLite and the file system into StoreErrors that name the file.
   */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, this.options.file);
    }
  }

  #openMemory(): ThreadDatabase {
    const { log, longTexts } = this.options;
    this.#memory ??= new ThreadDatabase(openInMemory(this.options), {
      inMemory: true,
      log,
      ...(longTexts && { longTexts }),
    });
    return this.#memory;
  }

  /**
   * Releases something. A full disk prevents even this: logs it, and the next release does it, or
   * the end of this process.
   */
  protected async release(fields: { threadId?: string }, release: () => void): Promise<void> {
    try {
      await this.queue.write(() => this.guard(release));
    } catch (error) {
      this.options.log.warn(
        { ...fields, err: error },
        'a lease or logs could not be released; the next release tries again',
      );
    }
  }

  protected commitAlone(database: ThreadDatabase, { run, committed }: JoinedWrite): void {
    this.guard(() => this.write(database, run));
    committed();
  }

  protected makeDurable(undo: JoinedWrite): Promise<void> {
    const { file, log } = this.options;
    const flush = () => this.#file.flush();
    return makeDurable(undo, {
      file,
      log,
      flush,
      commit: () => this.queue.write(() => this.commitAlone(this.disk, undo)),
    });
  }

  #commit(writes: readonly JoinedWrite[]): unknown[] {
    return commitTogether(writes, {
      transact: (work) => this.guard(() => this.#file.mending(() => this.write(this.disk, work))),
      part: (run) => this.disk.part(run),
      failureOf: (error) => {
        if (!this.disk.db.inTransaction || isIndexDamage(error) || isFileDamage(error)) throw error;
        return asStoreError(error, this.options.file);
      },
    });
  }

  /**
   * Removes a part of what no thread needs. Does not count as a write, after which other work would
   * wait. Returns false at the end.
   */
  #collect(): boolean {
    const databases = this.databases().filter(
      (database) => database.inMemory || !this.store.opened.readOnly,
    );
    const collected = databases.map((database) =>
      database.write(() => database.discarded.collect() || database.freePages.giveBack()),
    );
    this.store.watch?.committed();
    return collected.includes(true);
  }

  /** Notes that something was discarded, which is collected later. */
  protected discarded(): void {
    this.#idleWork.discarded();
  }

  /** The database in memory; null: nothing has needed it. */
  protected get memory(): ThreadDatabase | null {
    return this.#memory;
  }

  /** Closes the databases once the last calls have ended. */
  protected async closeDatabases(calls: readonly Promise<unknown>[]): Promise<void> {
    this.queue.close();
    await Promise.all(calls);
    // The flushes of what was just committed begin.
    await nextRound();
    await this.#file.settle();
    this.#idleWork.close();
    await this.#sweeping;
    this.#memory?.db.close();
    this.#file.close();
  }

  /** Takes the threads of this process's writers in a file that was opened again. */
  protected abstract takeAgain(): void;

  /** Whether a thread of the file has a writer here, or logs that are held for it. */
  protected abstract isWriting(): boolean;
}
