import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { activeWriter, StoreError, threadNotFound } from '../store-error.ts';
import { asStoreError, isReadOnly, readOnly } from './as-store-error.ts';
import { IdleWork } from './database/idle-work.ts';
import { Leases } from './database/leases.ts';
import { type DatabaseFiles, type OpenedDatabase, openDatabase, openInMemory } from './database/open-database.ts';
import { ThreadDatabase } from './database/thread-database.ts';
import { HeldLogs } from './history/held-logs.ts';
import type { LogsOf } from './history/history.ts';
import { type LogTail, SqliteWriter, type WriterDeps } from './sqlite-writer.ts';

export interface StoreConnectionOptions extends DatabaseFiles {
  clock: Clock;
  log: Log;
  pid: number;
}

/** An open store: the database file, the database in memory for ephemeral threads, the leases, and this process's writers. */
export class StoreConnection {
  readonly #options: StoreConnectionOptions;
  #opened: OpenedDatabase;
  #disk: ThreadDatabase;
  #leases: Leases;
  readonly #writers = new Map<string, SqliteWriter>();
  readonly #idleWork: IdleWork;
  /** The ids of threads whose writers are closed and whose leases are not released yet. */
  readonly #releasing = new Set<string>();
  /** The ids of ephemeral threads that hold logs of the file. */
  readonly #holding = new Set<string>();
  #memory: ThreadDatabase | null = null;

  constructor(options: StoreConnectionOptions) {
    this.#options = options;
    this.#opened = openDatabase(options);
    ({ disk: this.#disk, leases: this.#leases } = onDisk(this.#opened, options));
    this.#idleWork = new IdleWork({
      clock: options.clock,
      log: options.log,
      collect: () => this.#collect(),
      checkpoint: () => this.disk.db.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    });
  }

  /** The database of the file, or a copy of it if the file can only be read. */
  get disk(): ThreadDatabase {
    return this.#disk;
  }

  /**
   * Runs a call on a database that is up to date. If the call fails because the database can only be read, opens the
   * database again and repeats the call: the file may have become writable, or the obstacle may be gone.
   */
  call<T>(work: (connection: StoreConnection) => T): T {
    return this.guard(() => {
      if (this.#opened.isOutdated()) this.#reopen();
      try {
        return work(this);
      } catch (error) {
        if (!isReadOnly(error, this.#options.file) || this.#isWriting()) throw error;
        this.#reopen();
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
    if (this.#opened.readOnly && !database.inMemory) throw readOnly(this.#options.file);
    return database;
  }

  /** Runs a write in which this process may take threads of the database. */
  writeAsOwner<T>(database: ThreadDatabase, work: () => T): T {
    // Dead processes may have held logs, which nothing needs now.
    if (!database.inMemory && this.#leases.becomeOwner((clear) => database.write(clear))) this.#idleWork.discarded();
    return this.write(database, work);
  }

  /** Gives this process the lease of a thread. Call it within `writeAsOwner`. Throws `active_writer`. */
  takeThread(database: ThreadDatabase, threadId: string): void {
    if (this.#writers.has(threadId)) throw activeWriter(threadId, this.#options.pid);
    if (!database.inMemory) this.#leases.take(threadId);
  }

  /** Throws `active_writer` while another process has the thread. */
  assertNotHeldElsewhere(threadId: string): void {
    this.#leases.assertNotElsewhere(threadId);
  }

  /** Removes the lease of a deleted thread. Call it within a transaction. */
  forgetLease(threadId: string): void {
    this.#leases.forget(threadId);
  }

  /**
   * Returns the result of `cut`, and holds its logs of the file for an ephemeral thread, in the same transaction, so that no
   * other process can discard them in between. Throws `store_read_only` and `store_full`.
   */
  holdLogs<T extends { segments: { logId: number }[] }>(threadId: string, cut: () => T): T {
    return this.guard(() => {
      const disk = this.writable(this.disk);
      return this.writeAsOwner(disk, () => {
        const found = cut();
        const logIds = found.segments.map(({ logId }) => logId).filter((logId) => logId > 0);
        if (logIds.length === 0) return found;
        this.#leases.hold(threadId, logIds);
        this.#holding.add(threadId);
        return found;
      });
    });
  }

  /** Releases all logs that an ephemeral thread holds, except these. */
  releaseExcept(threadId: string, logIds: readonly number[]): void {
    if (!this.#holding.has(threadId)) return;
    const kept = logIds.filter((logId) => logId > 0);
    this.#tryRelease({ threadId }, () => this.#leases.hold(threadId, kept));
    if (kept.length === 0) this.#holding.delete(threadId);
  }

  /** Whether a writer has the thread, in this process or another. */
  isLive(threadId: string): boolean {
    return this.#writers.has(threadId) || this.#leases.isHeldElsewhere(threadId);
  }

  /** Makes the writer of a thread that this process has taken. */
  addWriter(database: ThreadDatabase, tail: LogTail): SqliteWriter {
    const deps: WriterDeps = {
      database,
      now: () => this.now(),
      write: <T>(work: () => T, durable?: boolean) => this.guard(() => this.write(database, work, durable)),
      assertHeld: (threadId: string) => (database.inMemory ? undefined : this.#leases.assertHeld(threadId)),
      release: (threadId: string) => this.#release(database, threadId),
    };
    const writer = new SqliteWriter(deps, tail);
    this.#writers.set(tail.threadId, writer);
    return writer;
  }

  /** Moves the writer of a thread to another log, if this process has the writer. */
  moveWriter(tail: LogTail): void {
    this.#idleWork.discarded();
    this.#writers.get(tail.threadId)?.move(tail);
  }

  /** Closes the writer of a deleted thread, if this process has it. */
  closeWriter(threadId: string): void {
    this.#idleWork.discarded();
    this.#writers.get(threadId)?.end();
  }

  write<T>(database: ThreadDatabase, work: () => T, durable = false): T {
    const result = database.write(work, durable);
    if (!database.inMemory) this.#idleWork.wrote();
    return result;
  }

  /** Runs `work`. Turns errors of SQLite and the file system into StoreErrors that name the file. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, this.#options.file);
    }
  }

  async close(): Promise<void> {
    for (const writer of [...this.#writers.values()]) await writer.close();
    if (this.#holding.size > 0) this.#tryRelease({}, () => this.#leases.releaseAll());
    this.#idleWork.close();
    this.#leases.close();
    this.#memory?.db.close();
    this.#opened.db.close();
  }

  /** Keeps ephemeral threads. If it fails, the next call tries again. */
  #reopen(): void {
    const before = this.#opened;
    this.#leases.close();
    // Connections of one process share the -shm file, which the old one may have opened for reading only.
    if (!before.readOnly) before.db.close();
    const opened = openDatabase(this.#options, before);
    if (opened === before) return;
    ({ disk: this.#disk, leases: this.#leases } = onDisk(opened, this.#options));
    this.#opened = opened;
    before.db.close();
  }

  #isWriting(): boolean {
    return this.#holding.size > 0 || [...this.#writers.values()].some((writer) => !writer.inMemory);
  }

  #openMemory(): ThreadDatabase {
    this.#memory ??= new ThreadDatabase(openInMemory(this.#options), { inMemory: true, log: this.#options.log });
    return this.#memory;
  }

  #release(database: ThreadDatabase, threadId: string): void {
    this.#writers.delete(threadId);
    if (database.inMemory) return;
    this.#releasing.add(threadId);
    const releaseAll = () => {
      for (const id of this.#releasing) if (!this.#writers.has(id)) this.#leases.release(id);
    };
    if (this.#tryRelease({ threadId }, releaseAll)) this.#releasing.clear();
  }

  /** Releases something. A full disk prevents even this: returns false, and the next release does it, or the end of this process. */
  #tryRelease(fields: { threadId?: string }, release: () => void): boolean {
    try {
      this.disk.write(release);
      return true;
    } catch (error) {
      if (!(asStoreError(error, this.#options.file) instanceof StoreError)) throw error;
      this.#options.log.warn({ ...fields, err: error }, 'a lease or logs could not be released; the next release tries again');
      return false;
    }
  }

  #collect(): boolean {
    const databases = this.databases().filter((database) => database.inMemory || !this.#opened.readOnly);
    return databases.map((database) => database.write(() => database.discarded.collect())).includes(true);
  }
}

function onDisk({ db }: OpenedDatabase, { file, pid, connect, log }: StoreConnectionOptions): { disk: ThreadDatabase; leases: Leases } {
  try {
    const disk = new ThreadDatabase(db, { inMemory: false, log });
    const held = new HeldLogs(db, disk.discarded);
    return { disk, leases: new Leases(db, { folder: join(dirname(file), 'heddle-writers'), pid, connect, held }) };
  } catch (error) {
    db.close();
    throw error;
  }
}
