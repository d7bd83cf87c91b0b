import type { JsonValue } from '../base/json-value.ts';
import type { HiddenPattern, InheritedLimits } from '../config/inherited-limits.ts';
import type {
  ActivePermissionProfile,
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  GitInfo,
  MultiAgentMode,
  Personality,
  ReasoningSummary,
  ResponseItem,
  SandboxPolicy,
  SessionSource,
  ThreadItem,
  ThreadMemoryMode,
  ThreadTokenUsage,
  TokenUsageBreakdown,
  TurnError,
  TurnItemsView,
  UntimedItem,
} from '../protocol/generated/types.ts';
import type { GoalRecord } from './goal-record.ts';
import type { HistoryPage, ItemQuery, Page, ThreadQuery, TurnQuery } from './page-query.ts';

/**
 * The settings of a thread's next turn: the configuration that the thread started with, and every
 * override since then. Stored with the thread, so that a resumed thread continues with the settings
 * of its last turn. `cwd` is absolute.
 */
export interface ThreadSettings {
  model: string;
  modelProvider: string;
  /**
   * Nobody has chosen the provider: it is the embedded model, because there was no other. Absent:
   * it was chosen.
   */
  embeddedByDefault?: true;
  /** The model that a client asked for in its place. Absent: none. */
  embeddedInPlaceOf?: string;
  cwd: string;
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandboxPolicy: SandboxPolicy;
  /** The profile that the sandbox policy comes from. Absent in records of older versions. */
  permissionProfile?: ActivePermissionProfile | null;
  /** Limits of an agent's sandbox that the policy does not have. Absent or null: none. */
  limits?: InheritedLimits | null;
  /**
   * The files that its permission profile, or that of a thread that it works for, hides. Absent or
   * null: none.
   */
  hidden?: readonly HiddenPattern[] | null;
  /**
   * The workspace's folders besides the working directory. Absolute. Absent in records of older
   * versions.
   */
  workspaceRoots?: readonly string[];
  /**
   * A client has chosen no environment: the model gets the instructions and skills of the home, and
   * none of the project.
   */
  withoutProject?: true;
  effort: string | null;
  summary: ReasoningSummary | null;
  personality: Personality | null;
  serviceTier: string | null;
  collaborationMode: CollaborationMode;
  /** When the model may start agents. Absent: if the user asks for it. */
  multiAgentMode?: MultiAgentMode;
  baseInstructions: string | null;
  developerInstructions: string | null;
}

/** The longest name of a thread, in UTF-16 units. The search index has all of it. */
export const NAME_CHARS_MAX = 1_000;

/** A thread without its history. Times are Unix milliseconds. */
export interface ThreadRecord {
  id: string;
  sessionId: string;
  createdAtMs: number;
  updatedAtMs: number;
  /** When the last turn began: lists sort by it as `recencyAt`. */
  recencyAtMs: number;
  /**
   * False until the thread's first turn or goal. Until then the thread is stored but not listed.
   */
  listed: boolean;
  archivedAtMs: number | null;
  ephemeral: boolean;
  /** At most NAME_CHARS_MAX long. */
  name: string | null;
  /**
   * The text of the first user message or goal. Until there is one, of the first command of the
   * user; else empty.
   */
  preview: string;
  previewIsCommand: boolean;
  path: string | null;
  forkedFromId: string | null;
  source: SessionSource;
  threadSource: string | null;
  originator: string | null;
  cliVersion: string;
  gitInfo: GitInfo | null;
  settings: ThreadSettings;
  /**
   * `compactions`: how many times the thread was compacted, with the threads that it was forked
   * from. Absent: never.
   */
  tokenUsage: { turnId: string; usage: ThreadTokenUsage; compactions?: number } | null;
  /**
   * The context that the model last got. At the next turn, it gets only the parts that have
   * changed.
   */
  told: JsonValue;
  /** Null: no client has set it. */
  memoryMode: ThreadMemoryMode | null;
  /** Null: no client has set it. */
  daybreakEnabled: boolean | null;
  /**
   * The tools that a client provides for the thread, as JSON text (`ClientTool[]`). Null: none;
   * lists of threads never have them.
   */
  clientTools: string | null;
  goal: GoalRecord | null;
  /** When the thread was closed as an agent of another thread. Null: it is open, or no agent. */
  agentClosedAtMs: number | null;
  /** The turn of the other thread that has started this agent. Null: no turn has. */
  spawnTurnId: string | null;
}

/** The fields that any process may change, even if another process has the thread's writer. */
export type ThreadMetadata = Pick<
  ThreadRecord,
  'name' | 'gitInfo' | 'memoryMode' | 'daybreakEnabled'
>;

/** The fields of a thread that can change after its creation. */
export type ThreadPatch = Partial<
  Pick<
    ThreadRecord,
    | 'updatedAtMs'
    | 'recencyAtMs'
    | 'listed'
    | 'archivedAtMs'
    | 'name'
    | 'preview'
    | 'previewIsCommand'
    | 'gitInfo'
    | 'settings'
    | 'tokenUsage'
    | 'told'
    | 'memoryMode'
    | 'daybreakEnabled'
    | 'goal'
    | 'agentClosedAtMs'
  >
>;

/**
 * A patch, and the fields of the git information that change: the others stay, and without any the
 * information is null.
 */
export type ThreadChange = ThreadPatch & { gitFields?: Partial<GitInfo> };

/**
 * One record of a thread's log. Records are appended and never rewritten.
 *
 * - `turnStarted` and `turnEnded` enclose a turn. A turn without an end was cut off, unless it
 *   still runs. A review that was cut off also leaves review mode.
 * - `item` is an item as clients saw it completed, or with `partial`, as it was last saved. With
 *   `running` the item runs on after its turn, and a later `lateItem` has its end: readers show
 *   that at the position of the first.
 * - `model` is an item that the model reads. A `deferred` one, such as an output, came while the
 *   model was responding: it is read at the next `deferredRead`, or else after its turn's other
 *   items. One that `replaces` takes the place of the last output with its call id.
 * - `compacted` replaces all entries before it that are for the model, deferred ones too, with
 *   `items`. Clients see the same history.
 */
export type LogEntry =
  | {
      kind: 'turnStarted';
      turnId: string;
      startedAtMs: number;
      isReview?: true;
      rootTurnId?: string;
    }
  | {
      kind: 'turnEnded';
      turnId: string;
      status: 'completed' | 'failed' | 'interrupted';
      error: TurnError | null;
      completedAtMs: number;
      durationMs: number;
      /** The thread's total token usage at that time. Null or missing if unknown. */
      tokenUsage?: ThreadTokenUsage | null;
    }
  | ({ kind: 'item'; partial?: boolean; running?: boolean } & StoredItem)
  | ({ kind: 'lateItem' } & StoredItem)
  | {
      kind: 'model';
      turnId: string | null;
      item: ResponseItem;
      deferred?: boolean;
      replaces?: true;
      author?: Author;
    }
  | { kind: 'deferredRead'; turnId: string }
  | {
      kind: 'compacted';
      turnId: string | null;
      items: ResponseItem[];
      authors?: (Author | null)[];
    };

/**
 * The author of a message that the model did not write, or of the output of a call:
 * - `user`: a person wrote it.
 * - `parent`: the model of the thread that started this agent, or that of a thread above, wrote it.
 * - `approval`: the server tells what a person has approved.
 * - `client`: a client has put it into the history in the user's name, by itself.
 * - `context`: the server describes the thread and its surroundings. It tells this again after a
 *   compaction.
 * - `server`: the server, or a client by itself, tells this once.
 */
export type Author = 'user' | 'parent' | 'approval' | 'client' | 'context' | 'server';

/** An item and its times. One that a client has put into the history by itself has none. */
export interface StoredItem {
  turnId: string;
  item: UntimedItem;
  startedAtMs: number | null;
  completedAtMs: number | null;
}

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

/** An entry that changes what the model reads. */
export type ModelEntry = Extract<LogEntry, { kind: 'model' | 'deferredRead' | 'compacted' }>;

/** A part of the entries for the model, oldest first. */
export interface ModelSlice {
  entries: ModelEntry[];
  /**
   * Continues after these entries, also with entries that are stored later. Null if there are none
   * so far.
   */
  cursor: string | null;
  /** Whether more entries are stored after these. */
  more: boolean;
}

/** An agent below a thread: a thread that an agent started. */
export type AgentRecord = Pick<
  ThreadRecord,
  | 'id'
  | 'sessionId'
  | 'source'
  | 'createdAtMs'
  | 'archivedAtMs'
  | 'listed'
  | 'agentClosedAtMs'
  | 'spawnTurnId'
>;

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
