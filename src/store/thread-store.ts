import type {
  QueuedSubmission,
  ThreadItem,
  ThreadTokenUsage,
  TokenUsageBreakdown,
  TurnError,
  TurnItemsView,
} from '../protocol/generated/types.ts';
import type { LogEntry, ModelSlice, StoredItem } from './log-entry.ts';
import type { HistoryPage, ItemQuery, Page, ThreadQuery, TurnQuery } from './page-query.ts';
import type {
  AgentRecord,
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadRecord,
} from './thread-record.ts';

/**
 * A stored turn. It is `inProgress` only if it is the thread's last turn and a live writer has the
 * thread.
 */
export interface StoredTurn {
  id: string;
  /** The turn that this one works for. Absent: itself. */
  rootTurnId?: string;
  status: 'completed' | 'failed' | 'interrupted' | 'inProgress';
  error: TurnError | null;
  startedAtMs: number;
  completedAtMs: number | null;
  durationMs: number | null;
  items: ThreadItem[];
  itemsView: TurnItemsView;
  /** The thread's total token usage at the turn's end, if known. */
  tokenUsage?: ThreadTokenUsage;
}

/** The most agents that are read of one thread. */
export const AGENTS_READ_MAX = 10_000;

/** The point of the source's history at which a fork begins. Null: the end. */
export type ForkPoint = { afterTurnId: string } | { beforeTurnId: string } | null;

/** The changes of a write besides the log. */
export interface WriteChanges {
  patch?: ThreadPatch;
  /**
   * Unfinished items, which are saved as partials. Each replaces the partial that was saved for the
   * same id.
   */
  partials?: readonly StoredItem[];
  /**
   * The ids of items that were discarded while their turn continues. Their partials are removed.
   */
  dropped?: readonly string[];
  /**
   * The contents of submissions of the queue. Each replaces the one with the same id. A patch of
   * the queue removes those that it does not have.
   */
  queued?: readonly QueuedSubmission[];
  /** Whether the write must survive a power failure. */
  durable?: boolean;
}

/**
 * The only way to append to a thread. A thread has at most one writer at a time, in all processes
 * that share the store. Opening a writer recovers the thread: the turn that a dead writer left
 * unfinished ends `interrupted`, with its items.
 */
export interface ThreadWriter {
  readonly threadId: string;
  /**
   * Appends the entries and makes the changes, in one transaction. Once the promise resolves, the
   * write survives the death of this process, and with `durable` also a power failure. Appending an
   * item that is not `running` removes its partial. Ending a turn removes all partials of its items
   * that are not `running`. If it rejects with a StoreError, no entry was appended and nothing else
   * was changed, except if only the flush failed: then other changes stay. Resolves if such entries
   * cannot be removed.
   */
  append(entries: LogEntry[], changes?: WriteChanges): Promise<void>;
  /** Releases the thread. Can be called again. */
  close(): Promise<void>;
}

/**
 * Stores threads. Every method can reject with a StoreError, for an unknown thread with
 * `thread_not_found`. Several processes can use a store at once: each read sees everything that
 * other processes have written before it.
 */
export interface ThreadStore {
  /**
   * Stores a new thread, with the entries of an imported history if there are any. Nobody sees the
   * thread before it has all of them. A long history is stored in parts: `onStored` is called with
   * the number of entries that are stored so far.
   */
  createThread(
    record: ThreadRecord,
    entries?: LogEntry[],
    onStored?: (count: number) => void,
  ): Promise<ThreadWriter>;
  /**
   * Stores `record` as a fork. It shares the source's history up to the point, so a fork costs the
   * same for any length. A turn that is cut through ends `interrupted` in the fork. Rejects with
   * `turn_not_found` if the point names an unknown turn.
   */
  forkThread(sourceId: string, point: ForkPoint, record: ThreadRecord): Promise<ThreadWriter>;
  /**
   * Rejects with `active_writer`, which names the process, while another writer has the thread, and
   * with `thread_archived`.
   */
  openWriter(threadId: string): Promise<ThreadWriter>;
  getThread(threadId: string): Promise<ThreadRecord | null>;
  /**
   * Reads the fields of a thread that any process may change, not only the one that has the writer.
   * Null if there is no such thread.
   */
  getMetadata(threadId: string): Promise<ThreadMetadata | null>;
  /** Returns the thread with this `path`, or null. */
  findThreadByPath(path: string): Promise<ThreadRecord | null>;
  /**
   * Changes a thread in one transaction. Works even if another process has the thread's writer, so
   * it is for fields that any process may change. Only the writer changes the settings.
   */
  updateThread(threadId: string, change: ThreadChange): Promise<ThreadRecord>;
  /**
   * Archives a thread: from then on it gets no new writer, and only lists of archived threads have
   * it. Rejects with `active_writer` while another process has the thread, and with
   * `thread_archived`.
   */
  archiveThread(threadId: string, atMs: number): Promise<ThreadRecord>;
  /**
   * Archives several threads that are not loaded, all of them or none. Does nothing for one that
   * was archived at this time. Rejects as above.
   */
  archiveThreads(threadIds: readonly string[], atMs: number): Promise<void>;
  /** Unarchives a thread, and sets when it was updated. Rejects with `thread_not_archived`. */
  unarchiveThread(threadId: string, atMs: number): Promise<ThreadRecord>;
  /**
   * Removes this turn and everything after it, and applies the patch, in one transaction. The
   * thread's writer stays open if this store has it. Forks keep their histories. Cursors into the
   * removed part become invalid. Rejects with `turn_not_found`, with `active_writer` while another
   * process has the thread, and with `thread_archived`.
   */
  revertThread(threadId: string, beforeTurnId: string, patch: ThreadPatch): Promise<ThreadRecord>;
  /**
   * Deletes a thread and closes its writer if this store has it. Takes the same time for any length
   * of the history. Forks keep their histories. Rejects with `active_writer` while another process
   * has the thread.
   */
  deleteThread(threadId: string): Promise<void>;
  listThreads(query: ThreadQuery): Promise<Page<ThreadRecord>>;
  /**
   * The agents below a thread, at any depth, oldest first: also archived and unlisted ones. At most
   * AGENTS_READ_MAX.
   */
  listAgents(threadId: string): Promise<AgentRecord[]>;
  /** The ids of all agents below a thread, at any depth, in any order. */
  agentIds(threadId: string): Promise<string[]>;
  /**
   * The tokens of all agents below a thread, at any depth, except those with these ids. Null: none.
   */
  tokensBelow(threadId: string, exceptIds: readonly string[]): Promise<TokenUsageBreakdown | null>;
  /**
   * The ids of the agents that a thread itself has started and that have had no turn, and of the
   * open ones whose turn it no longer has.
   */
  leftAgents(threadId: string): Promise<{ unlisted: string[]; orphans: string[] }>;
  /**
   * Reads what those of the submissions say that wait in the thread's queue, in this order. Reads
   * at least one and not more than SLICE_BYTES_MAX.
   */
  readQueued(threadId: string, ids: readonly string[]): Promise<QueuedSubmission[]>;
  listTurns(threadId: string, query: TurnQuery): Promise<HistoryPage<StoredTurn>>;
  /**
   * The unfinished items of a running turn come last, as they were last saved. No page ends between
   * them because of its bytes. Rejects with `turn_not_found`, `item_not_found`.
   */
  listItems(threadId: string, query: ItemQuery): Promise<HistoryPage<StoredItem>>;
  /**
   * Reads those of the items that the turn has, in its order; none if the thread has no such turn.
   * Reads at least one and not more than SLICE_BYTES_MAX: `rest` has the ids of those that are
   * left.
   */
  readItems(
    threadId: string,
    wanted: { turnId: string; itemIds: readonly string[] },
  ): Promise<{ items: StoredItem[]; bytes: number; rest: string[] }>;
  /**
   * Measures items without reading them: those of a turn, or of the whole thread. Returns the bytes
   * of a part of them, and the cursor for the next part; null: it was the last. Rejects with
   * `turn_not_found`.
   */
  measureItems(
    threadId: string,
    range: { turnId?: string | null; cursor?: string | null },
  ): Promise<{ bytes: number; nextCursor: string | null }>;
  /**
   * Reads a part of the model's context. Begins with the last `compacted` entry if there is one.
   * Rejects with `invalid_cursor`.
   */
  readModelEntries(
    threadId: string,
    query: { cursor: string | null; bytesMax?: number },
  ): Promise<ModelSlice>;
  /** Closes every writer and the store itself. */
  close(): Promise<void>;
}
