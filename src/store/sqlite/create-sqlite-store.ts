import type { QueuedSubmission, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { type AgentPage, agentsBelow } from '../agents-below.ts';
import type { LogEntry, ModelSlice, StoredItem } from '../log-entry.ts';
import {
  type HistoryPage,
  type ItemQuery,
  type Page,
  SLICE_BYTES_MAX,
  type ThreadQuery,
  type TurnQuery,
} from '../page-query.ts';
import type {
  AgentRecord,
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadRecord,
} from '../thread-record.ts';
import type { ForkPoint, StoredTurn, ThreadStore, ThreadWriter } from '../thread-store.ts';
import type { ThreadDatabase } from './database/thread-database.ts';
import { listItems, requireTurn } from './history/list-items.ts';
import { measureItems } from './history/measure-items.ts';
import { readNamedItems } from './history/read-items.ts';
import { readModelEntries } from './history/read-model-entries.ts';
import { readTurns } from './history/read-turns.ts';
import { type SqliteStoreOptions, StoreAccess } from './store-access.ts';
import { archiveThread, archiveThreads } from './threads/archive-thread.ts';
import { beginFromStaged, beginThread } from './threads/begin-thread.ts';
import { deleteStoredThread } from './threads/delete-stored-thread.ts';
import { forkThread } from './threads/fork-thread.ts';
import { listStoredThreads } from './threads/list-stored-threads.ts';
import { loadHistory, shownHistory } from './threads/load-history.ts';
import { openWriter } from './threads/open-writer.ts';
import { resumeWriter } from './threads/resume-writer.ts';
import { revertThread } from './threads/revert-thread.ts';
import type { SqliteWriter } from './threads/sqlite-writer.ts';
import {
  beginStaging,
  dropStaged,
  type StagedHistory,
  stageEntries,
  stagePiece,
} from './threads/stage-entries.ts';
import type { StoreConnection } from './threads/store-connection.ts';

/**
 * Stores threads in one SQLite file, which any number of processes can share. The file is opened at
 * the first use.
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  return new SqliteStore(options);
}

export class SqliteStore implements ThreadStore {
  readonly #access: StoreAccess;

  constructor(options: SqliteStoreOptions) {
    this.#access = new StoreAccess(options);
  }

  async createThread(record: ThreadRecord, entries: LogEntry[] = []): Promise<ThreadWriter> {
    const begin = (connection: StoreConnection) => beginThread(connection, record, entries);
    // Nothing else can lock the database in memory.
    return record.ephemeral ? this.#access.callUnlocked(begin) : this.#access.write(begin);
  }

  async createFromStaged(
    record: ThreadRecord,
    staged: StagedHistory,
  ): Promise<ThreadWriter | null> {
    return this.#access.write((connection) => beginFromStaged(connection, record, staged));
  }

  async beginStaging(id: string): Promise<void> {
    return this.#access.write((connection) => beginStaging(connection, id));
  }

  async stageEntries(staged: StagedHistory, entries: LogEntry[]): Promise<boolean> {
    return this.#access.write((connection) => stageEntries(connection, staged, entries));
  }

  async stagePiece(stagedId: string, piece: string): Promise<string | null> {
    return this.#access.write((connection) => stagePiece(connection, stagedId, piece));
  }

  async dropStaged(id: string): Promise<void> {
    return this.#access.write((connection) => dropStaged(connection, id));
  }

  /** Reads a piece of a text; null: it is gone. */
  async readPiece(hash: string): Promise<string | null> {
    return this.#access.readOne((connection) =>
      firstOf(connection, (database) => database.blobs.piece(hash)),
    );
  }

  async forkThread(
    sourceId: string,
    point: ForkPoint,
    record: ThreadRecord,
  ): Promise<ThreadWriter> {
    return this.#access.write((connection) =>
      forkThread(connection, { id: sourceId, point }, record),
    );
  }

  async openWriter(threadId: string): Promise<ThreadWriter> {
    return this.#access.write((connection) => openWriter(connection, threadId));
  }

  /**
   * Opens a writer that was lost with an earlier store of this process, if the last write is one of
   * these. The thread is not recovered: its turn may still run.
   */
  async resumeWriter(
    threadId: string,
    lastWrites: readonly (string | null)[],
  ): Promise<SqliteWriter> {
    return this.#access.write((connection) => resumeWriter(connection, threadId, lastWrites));
  }

  async getThread(threadId: string): Promise<ThreadRecord | null> {
    return this.#access.read((connection) =>
      firstOf(connection, (database) => database.threads.get(threadId)),
    );
  }

  async getMetadata(threadId: string): Promise<ThreadMetadata | null> {
    // Called for every thread that is shown, and a single statement: it needs no transaction.
    return this.#access.readOne((connection) =>
      firstOf(connection, (database) => database.threads.metadata(threadId)),
    );
  }

  async findThreadByPath(path: string): Promise<ThreadRecord | null> {
    return this.#access.read((connection) =>
      firstOf(connection, (database) => database.threads.findByPath(path)),
    );
  }

  async updateThread(threadId: string, change: ThreadChange): Promise<ThreadRecord> {
    return this.#access.write((connection) => {
      const database = connection.writable(connection.databaseOf(threadId));
      return connection.write(database, () => database.threads.update(threadId, change));
    });
  }

  async archiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#access.write((connection) =>
      archiveThread(connection, threadId, { archived: true, atMs }),
    );
  }

  async archiveThreads(threadIds: readonly string[], atMs: number): Promise<void> {
    return this.#access.write((connection) => archiveThreads(connection, threadIds, atMs));
  }

  async unarchiveThread(threadId: string, atMs: number): Promise<ThreadRecord> {
    return this.#access.write((connection) =>
      archiveThread(connection, threadId, { archived: false, atMs }),
    );
  }

  async revertThread(
    threadId: string,
    beforeTurnId: string,
    patch: ThreadPatch,
  ): Promise<ThreadRecord> {
    return this.#access.write((connection) =>
      revertThread(connection, { threadId, beforeTurnId, patch }),
    );
  }

  async deleteThread(threadId: string): Promise<void> {
    return this.#access.write((connection) => deleteStoredThread(connection, threadId));
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadRecord>> {
    return this.#access.read((connection) => listStoredThreads(connection.disk.threads, query));
  }

  async listAgents(threadId: string): Promise<AgentRecord[]> {
    return agentsBelow(threadId, (parentIds, afterId) => this.readAgents(parentIds, afterId));
  }

  /** Reads a part of the agents that some threads have started. */
  async readAgents(parentIds: readonly string[], afterId: string): Promise<AgentPage> {
    return this.#access.read((connection) => {
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
    return this.#access.read((connection) =>
      connection.databases().flatMap((database) => database.threads.agents.idsBelow(threadId)),
    );
  }

  async tokensBelow(
    threadId: string,
    exceptIds: readonly string[],
  ): Promise<TokenUsageBreakdown | null> {
    return this.#access.read((connection) =>
      firstOf(connection, (database) => database.threads.agents.tokensBelow(threadId, exceptIds)),
    );
  }

  async leftAgents(threadId: string): Promise<{ unlisted: string[]; orphans: string[] }> {
    return this.#access.read((connection) => {
      const { database, history } = loadHistory(connection, threadId);
      const { agents } = database.threads;
      const orphans = agents.orphans(threadId, (turnId) => history.findTurn(turnId) !== null);
      return { unlisted: agents.unlisted(threadId), orphans };
    });
  }

  async readQueued(threadId: string, ids: readonly string[]): Promise<QueuedSubmission[]> {
    return this.#access.readPart((connection) =>
      connection.databaseOf(threadId).queues.read(threadId, ids, SLICE_BYTES_MAX),
    );
  }

  async listTurns(threadId: string, query: TurnQuery): Promise<HistoryPage<StoredTurn>> {
    return this.#access.readPart((connection) => {
      const { history, live } = shownHistory(connection, threadId);
      return readTurns(history, query, live);
    });
  }

  async listItems(threadId: string, query: ItemQuery): Promise<HistoryPage<StoredItem>> {
    return this.#access.readPart((connection) =>
      listItems(shownHistory(connection, threadId).history, threadId, query),
    );
  }

  async readItems(
    threadId: string,
    { turnId, itemIds }: { turnId: string; itemIds: readonly string[] },
  ): Promise<{ items: StoredItem[]; bytes: number; rest: string[] }> {
    return this.#access.readPart((connection) => {
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
    return this.#access.readPart((connection) => {
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
    return this.#access.readPart((connection) =>
      readModelEntries(loadHistory(connection, threadId).history, { cursor, bytesMax }),
    );
  }

  warmUp(): Promise<void> {
    return this.#access.warmUp();
  }

  close(): Promise<void> {
    return this.#access.close();
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
