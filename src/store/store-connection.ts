import { dirname, join } from 'node:path';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { LogsOf } from './history.ts';
import { Leases } from './leases.ts';
import { type DatabaseFiles, type OpenedDatabase, openDatabase, openInMemory } from './open-database.ts';
import { SqliteWriter, type WriterPlace } from './sqlite-writer.ts';
import { StoreError } from './store.ts';
import { activeWriter, asStoreError, isReadOnly, readOnly, threadNotFound } from './store-errors.ts';
import { ThreadDatabase } from './thread-database.ts';

export interface ConnectionOptions extends DatabaseFiles {
  clock: Clock;
  log: Log;
  pid: number;
}

/** After so long without a write, what lies in the WAL is moved into the database. */
const CHECKPOINT_IDLE_MS = 1_000;

/** An open store: the file, the memory where ephemeral threads are, the leases, and the writers of this process. */
export class StoreConnection {
  readonly #options: ConnectionOptions;
  #opened: OpenedDatabase;
  #disk: ThreadDatabase;
  #leases: Leases;
  readonly #writers = new Map<string, SqliteWriter>();
  #memory: ThreadDatabase | null = null;
  #timer: Timer | null = null;
  #wroteAtMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#opened = openDatabase(options);
    ({ disk: this.#disk, leases: this.#leases } = onDisk(this.#opened, options));
  }

  /** The file, or what stands for it where it can only be read. */
  get disk(): ThreadDatabase {
    return this.#disk;
  }

  /**
   * Does a call, on a database that is up to date. Before one is refused since the database can only be read, it is
   * opened again and the call repeated: the database may have been made writable, or what kept it from being opened passed.
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

  /** The logs among which one is: those in memory have negative numbers. */
  readonly logsOf: LogsOf = (logId) => (logId < 0 ? this.#openMemory().logs : this.disk.logs);

  /** Where a new thread goes. Throws `store_read_only`. */
  databaseFor({ ephemeral }: { ephemeral: boolean }): ThreadDatabase {
    return ephemeral ? this.#openMemory() : this.writable(this.disk);
  }

  /** Where a thread is. Throws `thread_not_found`. */
  databaseOf(threadId: string): ThreadDatabase {
    const found = this.databases().find((database) => database.threads.tip(threadId) !== null);
    if (found === undefined) throw threadNotFound(threadId);
    return found;
  }

  databases(): ThreadDatabase[] {
    return this.#memory === null ? [this.disk] : [this.disk, this.#memory];
  }

  /** Throws `store_read_only` where this database can only be read. */
  writable(database: ThreadDatabase): ThreadDatabase {
    if (this.#opened.readOnly && !database.inMemory) throw readOnly(this.#options.file);
    return database;
  }

  /** Within a transaction: makes this process the one that may append. Throws `active_writer`. */
  takeThread(database: ThreadDatabase, threadId: string): void {
    if (this.#writers.has(threadId)) throw activeWriter(threadId, this.#options.pid);
    if (!database.inMemory) this.#leases.take(threadId);
  }

  /** Whether a writer has the thread, in this process or another. */
  isLive(threadId: string): boolean {
    return this.#writers.has(threadId) || this.#leases.isHeldElsewhere(threadId);
  }

  /** The writer of a thread that has been taken. */
  addWriter(database: ThreadDatabase, place: WriterPlace): SqliteWriter {
    const host = {
      database,
      now: () => this.now(),
      write: <T>(work: () => T, durable?: boolean) => this.guard(() => this.write(database, work, durable)),
      assertHeld: (threadId: string) => (database.inMemory ? undefined : this.#leases.assertHeld(threadId)),
      release: (threadId: string) => this.#release(database, threadId),
    };
    const writer = new SqliteWriter(host, place);
    this.#writers.set(place.threadId, writer);
    return writer;
  }

  write<T>(database: ThreadDatabase, work: () => T, durable = false): T {
    const result = database.write(work, durable);
    if (!database.inMemory) this.#checkpointWhenIdle();
    return result;
  }

  /** What fails inside fails as a StoreError that names the file. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, this.#options.file);
    }
  }

  async close(): Promise<void> {
    for (const writer of [...this.#writers.values()]) await writer.close();
    this.#timer?.clear();
    this.#timer = null;
    this.#leases.close();
    this.#memory?.db.close();
    this.#opened.db.close();
  }

  /** Ephemeral threads stay as they are. After a failure the next call tries again. */
  #reopen(): void {
    const before = this.#opened;
    this.#leases.close();
    // While one connection is open, those that are opened beside it share what it could only read.
    if (!before.readOnly) before.db.close();
    const opened = openDatabase(this.#options, before);
    if (opened === before) return;
    ({ disk: this.#disk, leases: this.#leases } = onDisk(opened, this.#options));
    this.#opened = opened;
    before.db.close();
  }

  #isWriting(): boolean {
    return [...this.#writers.values()].some((writer) => !writer.inMemory);
  }

  #openMemory(): ThreadDatabase {
    this.#memory ??= new ThreadDatabase(openInMemory(this.#options), true);
    return this.#memory;
  }

  #release(database: ThreadDatabase, threadId: string): void {
    this.#writers.delete(threadId);
    if (database.inMemory) return;
    try {
      this.disk.write(() => this.#leases.keepOnly(this.#writers.keys()));
    } catch (error) {
      // On a full disk even this cannot be written. The next release does it, or the end of this process.
      if (!(asStoreError(error, this.#options.file) instanceof StoreError)) throw error;
      this.#options.log.warn({ threadId, err: error }, 'the lease of a thread is kept for now');
    }
  }

  #checkpointWhenIdle(): void {
    this.#wroteAtMs = this.#options.clock.monotonic();
    this.#timer ??= this.#options.clock.setTimer(() => this.#checkpointIfIdle(), CHECKPOINT_IDLE_MS);
  }

  #checkpointIfIdle(): void {
    this.#timer = null;
    const restMs = this.#wroteAtMs + CHECKPOINT_IDLE_MS - this.#options.clock.monotonic();
    if (restMs > 0) {
      this.#timer = this.#options.clock.setTimer(() => this.#checkpointIfIdle(), restMs);
      return;
    }
    try {
      this.disk.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (error) {
      // Nothing is lost with it: what could not be moved stays in the WAL, and the next idle moment tries again.
      this.#options.log.warn({ err: error }, 'the database could not take up its log');
    }
  }
}

function onDisk({ db }: OpenedDatabase, { file, pid, connect }: ConnectionOptions): { disk: ThreadDatabase; leases: Leases } {
  try {
    const disk = new ThreadDatabase(db, false);
    return { disk, leases: new Leases(db, { folder: join(dirname(file), 'heddle-writers'), pid, connect }) };
  } catch (error) {
    db.close();
    throw error;
  }
}
