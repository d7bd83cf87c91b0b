import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ResponseItem, TurnItemsView } from '../../protocol/generated/types.ts';
import { itemNotFound, StoreError, turnNotFound } from '../store-error.ts';
import type {
  ForkPoint,
  ItemQuery,
  LogEntry,
  Page,
  PageQuery,
  StoredItem,
  StoredTurn,
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadQuery,
  ThreadRecord,
  ThreadStore,
  ThreadWriter,
} from '../thread-store.ts';
import { asStoreError } from './as-store-error.ts';
import { type Connect, loadSqlite } from './database/load-sqlite.ts';
import type { ThreadDatabase } from './database/thread-database.ts';
import type { History, HistoryPosition } from './history/history.ts';
import { loadHistory, shownHistory } from './history/load-history.ts';
import { readItems, readModelItems, readNamedItems } from './history/read-items.ts';
import { readTurns } from './history/read-turns.ts';
import { StoreConnection } from './store-connection.ts';
import { archiveThread } from './threads/archive-thread.ts';
import { beginThread } from './threads/begin-thread.ts';
import { deleteThread } from './threads/delete-thread.ts';
import { forkThread } from './threads/fork-thread.ts';
import { listThreads } from './threads/list-threads.ts';
import { openWriter } from './threads/open-writer.ts';
import { revertThread } from './threads/revert-thread.ts';

export interface SqliteStoreOptions {
  /** The database file. Its folder is made if it is missing, and also has the lock files of live writers. */
  file: string;
  /** The package's `migrations` folder. */
  migrationsDir: string;
  /** The folder for a copy of a database whose own folder cannot be written. */
  tempDir: string;
  clock: Clock;
  log: Log;
  /** Named in `active_writer` errors of other processes. */
  pid: number;
  /** For tests. */
  connect?: Connect;
}

/** Stores threads in one SQLite file, which any number of processes can share. The file is opened at the first use. */
export function createSqliteStore(options: SqliteStoreOptions): ThreadStore {
  return new SqliteStore(options);
}

class SqliteStore implements ThreadStore {
  readonly #options: SqliteStoreOptions;
  #connection: StoreConnection | null = null;
  #opening: Promise<StoreConnection> | null = null;
  #closed = false;

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
  }

  async createThread(record: ThreadRecord, entries: LogEntry[] = []): Promise<ThreadWriter> {
    return this.#use((connection) => beginThread(connection, record, entries));
  }

  async forkThread(sourceId: string, point: ForkPoint, record: ThreadRecord): Promise<ThreadWriter> {
    return this.#use((connection) => forkThread(connection, { id: sourceId, point }, record));
  }

  async openWriter(threadId: string): Promise<ThreadWriter> {
    return this.#use((connection) => openWriter(connection, threadId));
  }

  async getThread(threadId: string): Promise<ThreadRecord | null> {
    return this.#read((connection) => firstOf(connection, (database) => database.threads.get(threadId)));
  }

  async getMetadata(threadId: string): Promise<ThreadMetadata | null> {
    // Called for every thread that is shown, and a single statement: it needs no transaction.
    return this.#use((connection) => firstOf(connection, (database) => database.threads.metadata(threadId)));
  }

  async findThreadByPath(path: string): Promise<ThreadRecord | null> {
    return this.#read((connection) => firstOf(connection, (database) => database.threads.findByPath(path)));
  }

  async updateThread(threadId: string, change: ThreadChange): Promise<ThreadRecord> {
    return this.#use((connection) => {
      const database = connection.writable(connection.databaseOf(threadId));
      return connection.write(database, () => database.threads.update(threadId, change));
    });
  }

  async archiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#use((connection) => archiveThread(connection, threadId, { archived: true, atMs }));
  }

  async unarchiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#use((connection) => archiveThread(connection, threadId, { archived: false, atMs }));
  }

  async revertThread(threadId: string, beforeTurnId: string, patch: ThreadPatch): Promise<ThreadRecord> {
    return this.#use((connection) => revertThread(connection, { threadId, beforeTurnId, patch }));
  }

  async deleteThread(threadId: string): Promise<void> {
    return this.#use((connection) => deleteThread(connection, threadId));
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadRecord>> {
    return this.#read((connection) => listThreads(connection.disk.threads, query));
  }

  async listTurns(threadId: string, query: PageQuery & { view: TurnItemsView }): Promise<Page<StoredTurn>> {
    return this.#read((connection) => {
      const { history, live } = shownHistory(connection, threadId);
      return readTurns(history, query, live);
    });
  }

  async listItems(threadId: string, { turnId, fromItemId, ...query }: ItemQuery): Promise<Page<StoredItem>> {
    return this.#read((connection) => {
      const { history } = shownHistory(connection, threadId);
      const turn = turnId == null ? null : history.findTurn(turnId);
      if (turnId != null && turn === null) throw turnNotFound(threadId, turnId);
      const first = fromItemId == null ? null : history.findItem(fromItemId);
      if (fromItemId != null && (first === null || isOutside(history, first, turn))) throw itemNotFound(threadId, fromItemId);
      return readItems(history, query, { turn, first });
    });
  }

  async readItems(threadId: string, { turnId, itemIds }: { turnId: string; itemIds: readonly string[] }): Promise<StoredItem[]> {
    return this.#read((connection) => {
      const { history } = shownHistory(connection, threadId);
      const turn = history.findTurn(turnId);
      return turn === null ? [] : readNamedItems(history, turn, itemIds);
    });
  }

  async readModelItems(threadId: string): Promise<ResponseItem[]> {
    return this.#read((connection) => readModelItems(loadHistory(connection, threadId).history));
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A connection that could not be opened needs no closing, and its caller got the error.
    const connection = this.#connection ?? (await this.#opening?.catch(() => null));
    this.#connection = null;
    await connection?.close();
  }

  /** Runs reads that must see one state of the database. */
  #read<T>(work: (connection: StoreConnection) => T): Promise<T> {
    return this.#use((connection) => connection.disk.read(() => work(connection)));
  }

  async #use<T>(work: (connection: StoreConnection) => T): Promise<T> {
    if (this.#closed) throw new StoreError('store_failed', `${this.#options.file} cannot be used (the store is closed)`);
    const connection = this.#connection ?? (await this.#open());
    return connection.call(work);
  }

  /** Concurrent calls share one opening. After a failure the next call opens again. */
  #open(): Promise<StoreConnection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<StoreConnection> {
    const connect = this.#options.connect ?? (await loadSqlite());
    try {
      this.#connection = new StoreConnection({ ...this.#options, connect });
      return this.#connection;
    } catch (error) {
      throw asStoreError(error, this.#options.file);
    }
  }
}

function firstOf<T>(connection: StoreConnection, find: (database: ThreadDatabase) => T | null): T | null {
  for (const database of connection.databases()) {
    const found = find(database);
    if (found !== null) return found;
  }
  return null;
}

/** Whether a position is not within the turn that begins at `turn`. */
function isOutside(history: History, position: HistoryPosition, turn: HistoryPosition | null): boolean {
  return turn !== null && (history.compare(position, turn) < 0 || history.compare(position, history.nextTurn(turn)) >= 0);
}
