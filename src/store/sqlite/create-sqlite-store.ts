import { existsSync } from 'node:fs';
import { type Clock, sleep, systemClock } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { Log } from '../../base/log.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { type AgentPage, agentsBelow } from '../agents-below.ts';
import type { LogEntry, ModelSlice, StoredItem } from '../log-entry.ts';
import type { ThreadQuery } from '../page-query.ts';
import {
  type HistoryPage,
  type ItemQuery,
  type Page,
  SLICE_BYTES_MAX,
  type TurnQuery,
} from '../page-query.ts';
import { itemNotFound, storeClosed, turnNotFound } from '../store-error.ts';
import type {
  AgentRecord,
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadRecord,
} from '../thread-record.ts';
import type { ForkPoint, StoredTurn, ThreadStore, ThreadWriter } from '../thread-store.ts';
import { asStoreError, isBusy, locked } from './as-store-error.ts';
import { type Connect, loadSqlite } from './connect/load-sqlite.ts';
import type { NodeVersions } from './connect/native-build-problem.ts';
import { lockHolder } from './database/lock-holder.ts';
import type { DatabasePlaces } from './database/open-database.ts';
import type { ThreadDatabase } from './database/thread-database.ts';
import type { History, HistoryPosition } from './history/history.ts';
import { loadHistory, shownHistory } from './history/load-history.ts';
import type { LongTexts } from './history/long-texts.ts';
import { measureItems } from './history/measure-items.ts';
import { readItems, readNamedItems } from './history/read-items.ts';
import { readModelEntries } from './history/read-model-entries.ts';
import { readTurns } from './history/read-turns.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import { StoreConnection } from './store-connection.ts';
import { BUSY_MS_MAX } from './store-queue.ts';
import { archiveThread, archiveThreads } from './threads/archive-thread.ts';
import { beginFromStaged, beginThread } from './threads/begin-thread.ts';
import { deleteThread } from './threads/delete-thread.ts';
import { forkThread } from './threads/fork-thread.ts';
import { listThreads } from './threads/list-threads.ts';
import { openWriter } from './threads/open-writer.ts';
import { resumeWriter } from './threads/resume-writer.ts';
import { revertThread } from './threads/revert-thread.ts';
import {
  beginStaging,
  dropStaged,
  type StagedHistory,
  stageEntries,
  stagePiece,
} from './threads/stage-entries.ts';
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
  /** For tests. */
  connect?: Connect;
  /** For tests: measures the waiting for locks of other processes. */
  waitClock?: Clock;
  /** For tests. */
  walSync?: WalSyncOptions;
}

/** The pause between two attempts to open a database that another process has locked. */
const OPEN_PAUSE_MS = 20;
const NEVER = new AbortController().signal;

/**
 * Stores threads in one SQLite file, which any number of processes can share. The file is opened at
 * the first use.
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  return new SqliteStore(options);
}

export class SqliteStore implements ThreadStore {
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

  async createThread(record: ThreadRecord, entries: LogEntry[] = []): Promise<ThreadWriter> {
    const begin = (connection: StoreConnection) => beginThread(connection, record, entries);
    // Nothing else can lock the database in memory.
    return record.ephemeral ? (await this.#connected()).call(begin) : this.#write(begin);
  }

  async createFromStaged(
    record: ThreadRecord,
    staged: StagedHistory,
  ): Promise<ThreadWriter | null> {
    return this.#write((connection) => beginFromStaged(connection, record, staged));
  }

  async beginStaging(id: string): Promise<void> {
    return this.#write((connection) => beginStaging(connection, id));
  }

  async stageEntries(staged: StagedHistory, entries: LogEntry[]): Promise<boolean> {
    return this.#write((connection) => stageEntries(connection, staged, entries));
  }

  async stagePiece(stagedId: string, piece: string): Promise<string | null> {
    return this.#write((connection) => stagePiece(connection, stagedId, piece));
  }

  async dropStaged(id: string): Promise<void> {
    return this.#write((connection) => dropStaged(connection, id));
  }

  /** Reads a piece of a text; null: it is gone. */
  async readPiece(hash: string): Promise<string | null> {
    return this.#readOne((connection) =>
      firstOf(connection, (database) => database.blobs.piece(hash)),
    );
  }

  async forkThread(
    sourceId: string,
    point: ForkPoint,
    record: ThreadRecord,
  ): Promise<ThreadWriter> {
    return this.#write((connection) => forkThread(connection, { id: sourceId, point }, record));
  }

  async openWriter(threadId: string): Promise<ThreadWriter> {
    return this.#write((connection) => openWriter(connection, threadId));
  }

  /**
   * Opens a writer that was lost with an earlier store of this process, if the last write is one of
   * these. The thread is not recovered: its turn may still run.
   */
  async resumeWriter(
    threadId: string,
    lastWrites: readonly (string | null)[],
  ): Promise<SqliteWriter> {
    return this.#write((connection) => resumeWriter(connection, threadId, lastWrites));
  }

  async getThread(threadId: string): Promise<ThreadRecord | null> {
    return this.#read((connection) =>
      firstOf(connection, (database) => database.threads.get(threadId)),
    );
  }

  async getMetadata(threadId: string): Promise<ThreadMetadata | null> {
    // Called for every thread that is shown, and a single statement: it needs no transaction.
    return this.#readOne((connection) =>
      firstOf(connection, (database) => database.threads.metadata(threadId)),
    );
  }

  async findThreadByPath(path: string): Promise<ThreadRecord | null> {
    return this.#read((connection) =>
      firstOf(connection, (database) => database.threads.findByPath(path)),
    );
  }

  async updateThread(threadId: string, change: ThreadChange): Promise<ThreadRecord> {
    return this.#write((connection) => {
      const database = connection.writable(connection.databaseOf(threadId));
      return connection.write(database, () => database.threads.update(threadId, change));
    });
  }

  async archiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#write((connection) =>
      archiveThread(connection, threadId, { archived: true, atMs }),
    );
  }

  async archiveThreads(threadIds: readonly string[], atMs: number): Promise<void> {
    return this.#write((connection) => archiveThreads(connection, threadIds, atMs));
  }

  async unarchiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#write((connection) =>
      archiveThread(connection, threadId, { archived: false, atMs }),
    );
  }

  async revertThread(
    threadId: string,
    beforeTurnId: string,
    patch: ThreadPatch,
  ): Promise<ThreadRecord> {
    return this.#write((connection) => revertThread(connection, { threadId, beforeTurnId, patch }));
  }

  async deleteThread(threadId: string): Promise<void> {
    return this.#write((connection) => deleteThread(connection, threadId));
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadRecord>> {
    return this.#read((connection) => listThreads(connection.disk.threads, query));
  }

  async listAgents(threadId: string): Promise<AgentRecord[]> {
    return agentsBelow(threadId, (parentIds, afterId) => this.readAgents(parentIds, afterId));
  }

  /** Reads a part of the agents that some threads have started. */
  async readAgents(parentIds: readonly string[], afterId: string): Promise<AgentPage> {
    return this.#read((connection) => {
      const inMemory = connection.databases().find((database) => database.inMemory);
      // Ephemeral ones are few: all are in the first part.
      const ephemeral =
        afterId === ''
          ? parentIds.flatMap((id) => inMemory?.threads.agents.page([id], '').agents ?? [])
          : [];
      const page = connection.disk.threads.agents.page(parentIds, afterId);
      return { ...page, agents: [...ephemeral, ...page.agents] };
    });
  }

  async agentIds(threadId: string): Promise<string[]> {
    return this.#read((connection) =>
      connection.databases().flatMap((database) => database.threads.agents.idsBelow(threadId)),
    );
  }

  async tokensBelow(
    threadId: string,
    exceptIds: readonly string[],
  ): Promise<TokenUsageBreakdown | null> {
    return this.#read((connection) =>
      firstOf(connection, (database) => database.threads.agents.tokensBelow(threadId, exceptIds)),
    );
  }

  async leftAgents(threadId: string): Promise<{ unlisted: string[]; orphans: string[] }> {
    return this.#read((connection) => {
      const { database, history } = loadHistory(connection, threadId);
      const { agents } = database.threads;
      const orphans = agents.orphans(threadId, (turnId) => history.findTurn(turnId) !== null);
      return { unlisted: agents.unlisted(threadId), orphans };
    });
  }

  async listTurns(threadId: string, query: TurnQuery): Promise<HistoryPage<StoredTurn>> {
    return this.#readPart((connection) => {
      const { history, live } = shownHistory(connection, threadId);
      return readTurns(history, query, live);
    });
  }

  async listItems(
    threadId: string,
    { turnId, fromTurnId, fromItemId, ...query }: ItemQuery,
  ): Promise<HistoryPage<StoredItem>> {
    return this.#readPart((connection) => {
      const { history } = shownHistory(connection, threadId);
      const turn = turnId == null ? null : requireTurn(history, threadId, turnId);
      const fromTurn = fromTurnId == null ? null : requireTurn(history, threadId, fromTurnId);
      const first = fromItemId == null ? null : history.findItem(fromItemId);
      if (fromItemId != null && (first === null || isOutside(history, first, turn)))
        throw itemNotFound(threadId, fromItemId);
      return readItems(history, query, { turn, fromTurn, first });
    });
  }

  async readItems(
    threadId: string,
    { turnId, itemIds }: { turnId: string; itemIds: readonly string[] },
  ): Promise<{ items: StoredItem[]; bytes: number; rest: string[] }> {
    return this.#readPart((connection) => {
      const { history } = shownHistory(connection, threadId);
      const turn = history.findTurn(turnId);
      return turn === null
        ? { items: [], bytes: 0, rest: [] }
        : readNamedItems(history, turn, { itemIds, bytesMax: SLICE_BYTES_MAX });
    });
  }

  async measureItems(
    threadId: string,
    { turnId, cursor = null }: { turnId?: string | null; cursor?: string | null },
  ): Promise<{ bytes: number; nextCursor: string | null }> {
    return this.#readPart((connection) => {
      const { history } = shownHistory(connection, threadId);
      return measureItems(history, {
        cursor,
        turn: turnId == null ? null : requireTurn(history, threadId, turnId),
      });
    });
  }

  async readModelEntries(
    threadId: string,
    { cursor, bytesMax = SLICE_BYTES_MAX }: { cursor: string | null; bytesMax?: number },
  ): Promise<ModelSlice> {
    return this.#readPart((connection) =>
      readModelEntries(loadHistory(connection, threadId).history, { cursor, bytesMax }),
    );
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
  async #readPart<T>(work: (connection: StoreConnection) => T): Promise<T> {
    await this.#pace.worked(1);
    return this.#read(work);
  }

  /** Runs reads that must see one state of the database. */
  #read<T>(work: (connection: StoreConnection) => T): Promise<T> {
    return this.#readOne((connection) => connection.disk.read(() => work(connection)));
  }

  async #readOne<T>(work: (connection: StoreConnection) => T): Promise<T> {
    const connection = await this.#connected();
    return connection.queue.read(() => connection.call(work));
  }

  async #write<T>(work: (connection: StoreConnection) => T): Promise<T> {
    const connection = await this.#connected();
    return connection.queue.write(() => connection.call(work));
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

function firstOf<T>(
  connection: StoreConnection,
  find: (database: ThreadDatabase) => T | null,
): T | null {
  for (const database of connection.databases()) {
    const found = find(database);
    if (found !== null) return found;
  }
  return null;
}

function requireTurn(history: History, threadId: string, turnId: string): HistoryPosition {
  const turn = history.findTurn(turnId);
  if (turn === null) throw turnNotFound(threadId, turnId);
  return turn;
}

/** Whether a position is not within the turn that begins at `turn`. */
function isOutside(
  history: History,
  position: HistoryPosition,
  turn: HistoryPosition | null,
): boolean {
  return (
    turn !== null &&
    (history.compare(position, turn) < 0 || history.compare(position, history.nextTurn(turn)) >= 0)
  );
}
