import { existsSync } from 'node:fs';
import { type Clock, sleep, systemClock } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { Log } from '../../base/log.ts';
import { storeClosed } from '../store-error.ts';
import { asStoreError, isBusy, locked } from './connect/as-store-error.ts';
import { type Connect, loadSqlite } from './connect/load-sqlite.ts';
import type { NodeVersions } from './connect/native-build-problem.ts';
import { lockHolder } from './database/lock-holder.ts';
import type { DatabasePlaces } from './database/open-database.ts';
import type { LongTexts } from './history/long-texts.ts';
import { BUSY_MS_MAX } from './store-queue.ts';
import { StoreConnection } from './threads/store-connection.ts';
import type { WalSyncOptions } from './wal/wal-sync.ts';

export interface SqliteStoreOptions extends DatabasePlaces {
  clock: Clock;
  log: Log;
  /** Named in `active_writer` errors of other processes. */
  pid: number;
  /** Called with a text for the user when a damaged database has been repaired. */
  onRepaired?: (message: string) => void;
  /** Values that are read and written have stand-ins for long texts. Absent: they are whole. */
  longTexts?: LongTexts;
  /**
   * `process.versions`, with which a better-sqlite3 that is built for another Node is replaced or
   * reported.
   */
  nodeVersions?: NodeVersions;
  /** Opens databases. Tests set it, for errors that no real file makes at a chosen moment. */
  connect?: Connect;
  /** Measures the waiting for locks of other processes. Tests set it: it takes long. */
  waitClock?: Clock;
  /** Tests set it, for disks that are slow or fail. */
  walSync?: WalSyncOptions;
}

/** The pause between two attempts to open a database that another process has locked. */
const OPEN_PAUSE_MS = 20;
const NEVER = new AbortController().signal;

/**
 * Gives the calls of a store its connection, in turns. The file is opened at the first use. Errors
 * of SQLite become StoreErrors.
 */
export class StoreAccess {
  readonly #options: SqliteStoreOptions;
  #connection: StoreConnection | null = null;
  #opening: Promise<StoreConnection> | null = null;
  #closed = false;
  /**
   * Shared by all reads of histories, so that many at once do not take longer at a time than one.
   */
  readonly #pace = new EventLoopYield();

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
  }

  /**
   * Opens the file if it exists, so that the next call need not wait for that. Never rejects: the
   * next call has the error.
   */
  async warmUp(): Promise<void> {
    if (!this.#closed && existsSync(this.#options.file)) await this.#connected().catch(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A connection that could not be opened needs no closing, and its caller got the error.
    const connection = this.#connection ?? (await this.#opening?.catch(() => null));
    this.#connection = null;
    await connection?.close();
  }

  /** Reads a part of a history, after other work that waits. */
  async readPart<T>(work: (connection: StoreConnection) => T): Promise<T> {
    await this.#pace.worked(1);
    return this.read(work);
  }

  /** Runs reads that must see one state of the database. */
  read<T>(work: (connection: StoreConnection) => T): Promise<T> {
    return this.readOne((connection) => connection.disk.read(() => work(connection)));
  }

  async readOne<T>(work: (connection: StoreConnection) => T): Promise<T> {
    const connection = await this.#connected();
    return connection.queue.read(() => connection.call(work));
  }

  async write<T>(work: (connection: StoreConnection) => T): Promise<T> {
    const connection = await this.#connected();
    return connection.queue.write(() => connection.call(work));
  }

  /** Runs work that nothing else can lock out, such as in the database in memory. */
  async callUnlocked<T>(work: (connection: StoreConnection) => T): Promise<T> {
    return (await this.#connected()).call(work);
  }

  async #connected(): Promise<StoreConnection> {
    if (this.#closed) throw storeClosed(this.#options.file);
    return this.#connection ?? this.#open();
  }

  /** Concurrent calls share one opening. After a failure the next call opens again. */
  #open(): Promise<StoreConnection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<StoreConnection> {
    const connect = this.#options.connect ?? (await loadSqlite(this.#options.nodeVersions ?? null));
    const { file, waitClock = systemClock } = this.#options;
    const startMs = waitClock.monotonic();
    for (;;) {
      try {
        this.#connection = new StoreConnection({ onRepaired: () => {}, ...this.#options, connect });
        return this.#connection;
      } catch (error) {
        // Another process makes or migrates the database.
        if (!isBusy(error) || this.#closed) throw asStoreError(error, file);
        const ms = waitClock.monotonic() - startMs;
        if (ms >= BUSY_MS_MAX) throw locked(file, ms, lockHolder(file));
      }
      await sleep(waitClock, OPEN_PAUSE_MS, NEVER);
    }
  }
}
