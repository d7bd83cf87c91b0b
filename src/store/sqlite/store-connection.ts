import { setImmediate as nextRound } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { activeWriter, threadNotFound } from '../store-error.ts';
import { asStoreError, isFileDamage, isReadOnly, locked, readOnly } from './as-store-error.ts';
import { commitTogether } from './commit-together.ts';
import { IdleWork } from './database/idle-work.ts';
import { lockHolder } from './database/lock-holder.ts';
import { openInMemory } from './database/open-database.ts';
import { sweepLitter } from './database/sweep-litter.ts';
import { ThreadDatabase } from './database/thread-database.ts';
import type { LogsOf } from './history/history.ts';
import { makeDurable } from './make-durable.ts';
import { type LogTail, SqliteWriter, type WriterDeps } from './sqlite-writer.ts';
import { StoreFile, type StoreFileOptions } from './store-file.ts';
import type { OpenedStore } from './store-opener.ts';
import { type JoinedWrite, StoreQueue } from './store-queue.ts';
import { isIndexDamage } from './threads/rebuild-index.ts';

export interface StoreConnectionOptions extends StoreFileOptions {
  /** For tests: measures the waiting for locks of other processes. */
  waitClock?: Clock;
}

/**
 * An open store: the database file, the database in memory for ephemeral threads, the leases, and
 * this process's writers.
 */
export class StoreConnection {
  /** Every call goes through it. */
  readonly queue: StoreQueue;
  readonly #options: StoreConnectionOptions;
  readonly #file: StoreFile;
  readonly #writers = new Map<string, SqliteWriter>();
  readonly #idleWork: IdleWork;
  /** The ids of threads whose writers are closed and whose leases are not released yet. */
  readonly #released = new Set<string>();
  /** The ids of ephemeral threads that hold logs of the file. */
  readonly #holding = new Set<string>();
  #memory: ThreadDatabase | null = null;
  /** The release of closed writers that is about to run. */
  #releasing: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;

  constructor(options: StoreConnectionOptions) {
    this.#options = options;
    this.#file = new StoreFile(options, {
      onRequest: () => this.queue.read(() => this.call(() => {})),
      takeAgain: () => this.#takeAgain(),
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
        this.#sweeping ??= sweepLitter({ ...options, owners: () => this.#store.leases.owners() });
        return this.#collect();
      },
      checkpoint: () => this.disk.db.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    });
  }

  get #store(): OpenedStore {
    return this.#file.current;
  }

  /** The database of the file, or a copy of it if the file can only be read. */
  get disk(): ThreadDatabase {
    return this.#store.disk;
  }

  /**
   * Runs a call on a database that is up to date. If the call fails because the database can only
   * be read, opens the database again and repeats the call: the file may have become writable, or
   * the obstacle may be gone.
   */
  call<T>(work: (connection: StoreConnection) => T): T {
    return this.guard(() => {
      if (this.#store.opened.readOnly && this.#store.opened.isOutdated()) this.#file.reopen();
      try {
        return this.#file.mending(() => work(this));
      } catch (error) {
        if (!isReadOnly(error, this.#options.file) || this.#isWriting()) throw error;
        this.#file.reopen();
        return work(this);
      }
    });
  }

  now(): number {
    return this.#options.clock.now();
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
    if (found === undefined) throw threadNotFound(threadId);
    return found;
  }

  databases(): ThreadDatabase[] {
    return this.#memory === null ? [this.disk] : [this.disk, this.#memory];
  }

  /** Returns the database, or throws `store_read_only` if it can only be read. */
  writable(database: ThreadDatabase): ThreadDatabase {
    if (this.#store.opened.readOnly && !database.inMemory) throw readOnly(this.#options.file);
    return database;
  }

  /** Runs a write in which this process may take threads of the database. */
  writeAsOwner<T>(database: ThreadDatabase, work: () => T): T {
    // Dead processes may have held logs, which nothing needs now.
    if (!database.inMemory && this.#store.leases.becomeOwner((clear) => database.write(clear))) {
      this.#store.watch?.holds(this.#store.leases.lockFile);
      this.#idleWork.discarded();
    }
    return this.write(database, work);
  }

  /**
   * Gives this process the lease of a thread. Call it within `writeAsOwner`. Throws
   * `active_writer`.
   */
  takeThread(database: ThreadDatabase, threadId: string): void {
    if (this.#writers.has(threadId)) throw activeWriter(threadId, this.#options.pid);
    if (!database.inMemory) this.#store.leases.take(threadId);
  }

  /** Throws `active_writer` while another process has the thread. */
  assertNotHeldElsewhere(threadId: string): void {
    this.#store.leases.assertNotElsewhere(threadId);
  }

  /** Removes the lease of a deleted thread. Call it within a transaction. */
  forgetLease(threadId: string): void {
    this.#store.leases.forget(threadId);
  }

  /**
   * Returns the result of `cut`, and holds its logs of the file for an ephemeral thread, in the
   * same transaction, so that no other process can discard them in between. Throws
   * `store_read_only` and `store_full`.
   */
  holdLogs<T extends { segments: { logId: number }[] }>(threadId: string, cut: () => T): T {
    return this.guard(() => {
      const disk = this.writable(this.disk);
      return this.writeAsOwner(disk, () => {
        const found = cut();
        const logIds = found.segments.map(({ logId }) => logId).filter((logId) => logId > 0);
        if (logIds.length === 0) return found;
        this.#store.leases.hold(threadId, logIds);
        this.#holding.add(threadId);
        return found;
      });
    });
  }

  /** The log of a staged history of this process; null: there is none. */
  stagedLog(stagedId: string): number | null {
    return this.#store.leases.heldLog(stagedId);
  }

  /**
   * Sets the log of a staged history. Null: it has none any more, and the log is removed unless a
   * thread has it. Call it within `writeAsOwner`.
   */
  setStagedLog(stagedId: string, logId: number | null): void {
    this.#store.leases.hold(stagedId, logId === null ? [] : [logId]);
    this.#idleWork.discarded();
  }

  /** Releases all logs that an ephemeral thread holds, except these. */
  releaseExcept(threadId: string, logIds: readonly number[]): void {
    if (!this.#holding.has(threadId)) return;
    const kept = logIds.filter((logId) => logId > 0);
    void this.#release({ threadId }, () =>
      this.write(this.disk, () => this.#store.leases.hold(threadId, kept)),
    );
    if (kept.length === 0) this.#holding.delete(threadId);
  }

  /** Whether a writer has the thread, in this process or another. */
  isLive(threadId: string): boolean {
    return this.#writers.has(threadId) || this.#store.leases.isHeldElsewhere(threadId);
  }

  /** Makes the writer of a thread that this process has taken. */
  addWriter(database: ThreadDatabase, tail: LogTail): SqliteWriter {
    const current = () => (database.inMemory ? database : this.disk);
    const deps: WriterDeps = {
      inMemory: database.inMemory,
      database: current,
      now: () => this.now(),
      // Nothing else can lock the database in memory.
      write: async (write: JoinedWrite) =>
        database.inMemory ? this.#commitAlone(database, write) : this.queue.join(write),
      makeDurable: async (undo: JoinedWrite) =>
        database.inMemory ? undefined : this.#makeDurable(undo),
      assertHeld: (threadId: string) =>
        database.inMemory ? undefined : this.#store.leases.assertHeld(threadId),
      release: (threadId: string) => this.#releaseThread(database, threadId),
    };
    const writer = new SqliteWriter(deps, tail);
    this.#writers.set(tail.threadId, writer);
    return writer;
  }

  /** Moves the writer of a thread to another log, if this process has the writer. */
  moveWriter(tail: Omit<LogTail, 'writeId'>): void {
    this.#idleWork.discarded();
    this.#writers.get(tail.threadId)?.move(tail);
  }

  /** Closes the writer of a deleted thread, if this process has it. */
  closeWriter(threadId: string): void {
    this.#idleWork.discarded();
    void this.#writers.get(threadId)?.close();
  }

  write<T>(database: ThreadDatabase, work: () => T): T {
    if (database.inMemory) return database.write(work);
    const kept = () => {
      const result = work();
      this.#store.watch?.assertKept();
      return result;
    };
    try {
      const result = database.write(kept);
      this.#store.watch?.committed();
      this.#idleWork.wrote();
      return result;
    } catch (error) {
      this.#store.watch?.rescue();
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
      throw asStoreError(error, this.#options.file);
    }
  }

  async close(): Promise<void> {
    const closing: Promise<unknown>[] = [...this.#writers.values()].map((writer) => writer.close());
    if (this.#holding.size > 0)
      closing.push(
        this.#release({}, () => this.write(this.disk, () => this.#store.leases.releaseAll())),
      );
    this.queue.close();
    await Promise.all(closing);
    // The flushes of what was just committed begin.
    await nextRound();
    await this.#file.settle();
    this.#idleWork.close();
    await this.#sweeping;
    this.#memory?.db.close();
    this.#file.close();
  }

  /** Takes the threads of this process's writers in a file that was opened again. */
  #takeAgain(): void {
    const writers = [...this.#writers.values()].filter((writer) => !writer.inMemory);
    const kept = writers.filter(
      ({ tail }) => this.#store.disk.threads.endsAt(tail) || this.#lose(tail.threadId),
    );
    if (kept.length === 0 && this.#holding.size === 0) return;
    this.writeAsOwner(this.disk, () => {
      // A thread that another process has taken meanwhile stays there, and its writer here is
      // refused.
      for (const { threadId } of kept)
        if (!this.#store.leases.isHeldElsewhere(threadId)) this.#store.leases.take(threadId);
      for (const threadId of this.#holding)
        this.#store.leases.hold(threadId, this.#logsHeldBy(threadId));
    });
  }

  /** Ends the writer of a thread that a repair could not save as it was. Returns false. */
  #lose(threadId: string): false {
    this.#writers
      .get(threadId)
      ?.lose(
        `${this.#options.file} was damaged, and part of thread ${threadId} was lost: resume it`,
      );
    this.#writers.delete(threadId);
    return false;
  }

  #logsHeldBy(threadId: string): number[] {
    const segments = this.#memory?.segments.list(threadId) ?? [];
    return segments.map(({ logId }) => logId).filter((logId) => logId > 0);
  }

  #isWriting(): boolean {
    return this.#holding.size > 0 || [...this.#writers.values()].some((writer) => !writer.inMemory);
  }

  #openMemory(): ThreadDatabase {
    const { log, longTexts } = this.#options;
    this.#memory ??= new ThreadDatabase(openInMemory(this.#options), {
      inMemory: true,
      log,
      ...(longTexts && { longTexts }),
    });
    return this.#memory;
  }

  #releaseThread(database: ThreadDatabase, threadId: string): Promise<void> {
    this.#writers.delete(threadId);
    if (database.inMemory) return Promise.resolve();
    this.#released.add(threadId);
    // All writers that are closed in the same moment are released at once.
    this.#releasing ??= this.#release({ threadId }, () => this.#releaseClosed());
    return this.#releasing;
  }

  #releaseClosed(): void {
    this.#releasing = null;
    this.write(this.disk, () => {
      for (const id of this.#released) if (!this.#writers.has(id)) this.#store.leases.release(id);
    });
    this.#released.clear();
  }

  /**
   * Releases something. A full disk prevents even this: logs it, and the next release does it, or
   * the end of this process.
   */
  async #release(fields: { threadId?: string }, release: () => void): Promise<void> {
    try {
      await this.queue.write(() => this.guard(release));
    } catch (error) {
      this.#options.log.warn(
        { ...fields, err: error },
        'a lease or logs could not be released; the next release tries again',
      );
    }
  }

  #commitAlone(database: ThreadDatabase, { run, committed }: JoinedWrite): void {
    this.guard(() => this.write(database, run));
    committed();
  }

  #makeDurable(undo: JoinedWrite): Promise<void> {
    const { file, log } = this.#options;
    const flush = () => this.#file.flush();
    return makeDurable(undo, {
      file,
      log,
      flush,
      commit: () => this.queue.write(() => this.#commitAlone(this.disk, undo)),
    });
  }

  #commit(writes: readonly JoinedWrite[]): unknown[] {
    return commitTogether(writes, {
      transact: (work) => this.guard(() => this.#file.mending(() => this.write(this.disk, work))),
      part: (run) => this.disk.part(run),
      failureOf: (error) => {
        if (!this.disk.db.inTransaction || isIndexDamage(error) || isFileDamage(error)) throw error;
        return asStoreError(error, this.#options.file);
      },
    });
  }

  /**
   * Removes a part of what no thread needs. Does not count as a write, after which other work would
   * wait. Returns false at the end.
   */
  #collect(): boolean {
    const databases = this.databases().filter(
      (database) => database.inMemory || !this.#store.opened.readOnly,
    );
    const collected = databases.map((database) =>
      database.write(() => database.discarded.collect() || database.freePages.giveBack()),
    );
    this.#store.watch?.committed();
    return collected.includes(true);
  }
}
