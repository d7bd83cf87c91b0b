import type { JsonValue } from '../base/json-value.ts';
import type {
  ActivePermissionProfile,
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  GitInfo,
  Personality,
  ReasoningSummary,
  ResponseItem,
  SandboxPolicy,
  SessionSource,
  SortDirection,
  ThreadGoalStatus,
  ThreadItem,
  ThreadMemoryMode,
  ThreadTokenUsage,
  TurnError,
  TurnItemsView,
} from '../protocol/generated/types.ts';

/**
 * What a thread's next turn runs with: the configuration it was started under, with every override given since.
 * `cwd` is absolute. Stored with the thread, so that a resume goes on where the last turn ended.
 */
export interface ThreadSettings {
  model: string;
  modelProvider: string;
  cwd: string;
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandboxPolicy: SandboxPolicy;
  /** The profile that the sandbox policy comes from; absent in what older versions have stored. */
  permissionProfile?: ActivePermissionProfile | null;
  /** Folders of the workspace beside the working folder. Absolute; absent in what older versions have stored. */
  workspaceRoots?: readonly string[];
  effort: string | null;
  summary: ReasoningSummary | null;
  personality: Personality | null;
  serviceTier: string | null;
  collaborationMode: CollaborationMode;
  baseInstructions: string | null;
  developerInstructions: string | null;
}

/** What a thread works towards over many turns. Times are Unix milliseconds. */
export interface GoalRecord {
  objective: string;
  status: ThreadGoalStatus;
  /** Null: no limit. */
  tokenBudget: number | null;
  tokensUsed: number;
  timeUsedMs: number;
  createdAtMs: number;
  updatedAtMs: number;
  /** A turn was interrupted: the thread does not go on by itself before somebody speaks again. */
  awaitsUser: boolean;
}

/** The longest name of a thread, in UTF-16 units: all of it is in the index of searches. */
export const NAME_CHARS_MAX = 1_000;

/** A thread without its history. Times are Unix milliseconds. */
export interface ThreadRecord {
  id: string;
  sessionId: string;
  createdAtMs: number;
  updatedAtMs: number;
  /** When a turn last began: what "recent" means in a list. */
  recencyAtMs: number;
  /** False until the thread's first turn: such a thread is stored, but no list shows it. */
  listed: boolean;
  archivedAtMs: number | null;
  ephemeral: boolean;
  /** At most NAME_CHARS_MAX long. */
  name: string | null;
  /** The first user message's text; empty before it. */
  preview: string;
  path: string | null;
  forkedFromId: string | null;
  source: SessionSource;
  threadSource: string | null;
  originator: string | null;
  cliVersion: string;
  gitInfo: GitInfo | null;
  settings: ThreadSettings;
  tokenUsage: { turnId: string; usage: ThreadTokenUsage } | null;
  /** What the model was last told of its surroundings, so that it is told only what has changed since. */
  told: JsonValue;
  /** Null: no client has said. */
  memoryMode: ThreadMemoryMode | null;
  /** Null: no client has said. */
  daybreakEnabled: boolean | null;
  goal: GoalRecord | null;
}

/** What any process may say of a thread, whoever runs it. */
export type ThreadMetadata = Pick<ThreadRecord, 'name' | 'gitInfo' | 'memoryMode' | 'daybreakEnabled'>;

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
    | 'gitInfo'
    | 'settings'
    | 'tokenUsage'
    | 'told'
    | 'memoryMode'
    | 'daybreakEnabled'
    | 'goal'
  >
>;

/** A patch, or what makes one of the thread as it is. */
export type ThreadChange = ThreadPatch | ((before: ThreadRecord) => ThreadPatch);

/**
 * One record of a thread's log. Records are appended and never rewritten.
 *
 * - `turnStarted` and `turnEnded` bracket a turn; a turn without an end was cut off, unless it still runs.
 * - `item` is an item as clients saw it completed (or, with `partial`, as far as it came). With `running` it goes on when its
 *   turn ends, and a `lateItem` says what has become of it: it is shown so in the place of the first.
 * - `model` is what the model reads: the prompt is made of these, in their order. Those that are `deferred` came while it
 *   spoke, and it reads them at the next `deferredRead`, else behind all else of their turn.
 */
export type LogEntry =
  | { kind: 'turnStarted'; turnId: string; startedAtMs: number }
  | {
      kind: 'turnEnded';
      turnId: string;
      status: 'completed' | 'failed' | 'interrupted';
      error: TurnError | null;
      completedAtMs: number;
      durationMs: number;
      /** What the thread had cost by then. Null or missing: it is not known. */
      tokenUsage?: ThreadTokenUsage | null;
    }
  | { kind: 'item'; turnId: string; item: ThreadItem; startedAtMs: number; completedAtMs: number; partial?: boolean; running?: boolean }
  | { kind: 'lateItem'; turnId: string; item: ThreadItem; startedAtMs: number; completedAtMs: number }
  | { kind: 'model'; turnId: string | null; item: ResponseItem; deferred?: boolean }
  | { kind: 'deferredRead'; turnId: string };

export interface StoredItem {
  turnId: string;
  item: ThreadItem;
  startedAtMs: number;
  completedAtMs: number | null;
}

/** A turn as it is on record. `inProgress` only while a live writer holds the thread and the turn is its last. */
export interface StoredTurn {
  id: string;
  status: 'completed' | 'failed' | 'interrupted' | 'inProgress';
  error: TurnError | null;
  startedAtMs: number;
  completedAtMs: number | null;
  durationMs: number | null;
  items: ThreadItem[];
  itemsView: TurnItemsView;
  /** What the thread had cost by its end, where that is known. */
  tokenUsage?: ThreadTokenUsage;
}

/** A page of a longer list. A cursor is opaque; null where there is nothing further that way. */
export interface Page<T> {
  data: T[];
  /** Continues in the same direction. */
  nextCursor: string | null;
  /** Given back with the opposite direction, begins with what this page began with. */
  backwardsCursor: string | null;
}

export interface PageQuery {
  cursor?: string | null;
  /** Taken as 1 when it is less. Left out: all. */
  limit?: number;
  direction: SortDirection;
}

export interface ItemQuery extends PageQuery {
  /** The items of this turn alone. */
  turnId?: string | null;
  /** In place of a cursor: the page begins with this item. */
  fromItemId?: string | null;
}

export interface ThreadQuery extends PageQuery {
  archived: boolean;
  sortKey: 'createdAt' | 'updatedAt' | 'recencyAt';
  /** Null: every provider. */
  modelProviders: string[] | null;
  /** Null: every folder. */
  cwds: string[] | null;
  /** Null: every source. Matches the source's kind: its string, or `custom`, or `subAgent…`. */
  sources: string[] | null;
  /** Null: whoever started them. */
  originators: string[] | null;
  /** Null: none is left out. */
  excludedIds: string[] | null;
  /** A part of the name or of the preview, whatever its case. */
  searchTerm: string | null;
}

/** Where a fork leaves its source. Null: the whole history so far. */
export type ForkPoint = { afterTurnId: string } | { beforeTurnId: string } | null;

/**
 * The only way to append to a thread. One writer exists for a thread at a time, in all processes that share the store;
 * opening it first settles what a dead writer left: its unfinished turn ends `interrupted`, with the items it had begun.
 */
export interface ThreadWriter {
  readonly threadId: string;
  /**
   * Appends the entries and applies the patch, in one transaction: when the promise resolves, all of it survives the
   * death of this process; with `durable`, of the machine. Appending an item removes its partial, unless it is `running`, and
   * ending a turn every partial of it but for those that are. Rejects with a StoreError, and then nothing was written.
   */
  append(entries: LogEntry[], options?: { patch?: ThreadPatch; durable?: boolean }): Promise<void>;
  /** Keeps an item that has begun and not completed, as far as it came; each call replaces what was kept under its id. */
  savePartial(item: StoredItem): Promise<void>;
  /** Lets go of items that were kept so: they were given up, and the turn goes on without them. */
  dropPartials(itemIds: readonly string[]): Promise<void>;
  /** Gives up the thread. Harmless when repeated. */
  close(): Promise<void>;
}

/**
 * Where threads are kept. Every method may fail with a StoreError; an unknown thread is `thread_not_found`.
 * Nothing here assumes one process: what another process wrote is seen by the next read.
 */
export interface ThreadStore {
  /** Stores a thread before its first turn, with the entries of an imported history if there are any. */
  createThread(record: ThreadRecord, entries?: LogEntry[]): Promise<ThreadWriter>;
  /**
   * Stores `record` as a fork: its history is the source's up to the point, shared and not copied, whatever its length.
   * A turn that is cut through ends `interrupted` in the fork. Rejects with `turn_not_found` when the point names no turn.
   */
  forkThread(sourceId: string, point: ForkPoint, record: ThreadRecord): Promise<ThreadWriter>;
  /** Rejects with `active_writer`, naming the process, while another holds the thread, and with `thread_archived`. */
  openWriter(threadId: string): Promise<ThreadWriter>;
  getThread(threadId: string): Promise<ThreadRecord | null>;
  /** The part of a thread that a process other than its writer may have changed. */
  getMetadata(threadId: string): Promise<ThreadMetadata | null>;
  /** The thread whose `path` this is, or null. */
  findThreadByPath(path: string): Promise<ThreadRecord | null>;
  /**
   * Changes a thread, whoever holds it, by what it says in the same transaction: for what any process may say of it. What
   * the thread runs with is its writer's to change.
   */
  updateThread(threadId: string, change: ThreadChange): Promise<ThreadRecord>;
  /**
   * Puts a thread away: from then on it has no new writer, and only the list of archived threads shows it. Rejects with
   * `active_writer` while another process holds the thread, and with `thread_archived`.
   */
  archiveThread(threadId: string, atMs: number): Promise<ThreadRecord>;
  /** Brings it back, as updated at that time. Rejects with `thread_not_archived`. */
  unarchiveThread(threadId: string, atMs: number): Promise<ThreadRecord>;
  /**
   * Cuts the history off before this turn and applies the patch, in one transaction. The thread goes on as if the turn and
   * what came after had never been, with its writer if this store has one; forks keep what they have. Cursors into what was
   * cut off are refused from then on. Rejects with `turn_not_found`, with `active_writer` while another process holds the
   * thread, and with `thread_archived`.
   */
  revertThread(threadId: string, beforeTurnId: string, patch: ThreadPatch): Promise<ThreadRecord>;
  /**
   * Takes a thread away for good, with its writer if this store has one; it takes the same time for any history. Forks keep
   * theirs. Rejects with `active_writer` while another process holds the thread.
   */
  deleteThread(threadId: string): Promise<void>;
  listThreads(query: ThreadQuery): Promise<Page<ThreadRecord>>;
  /** With view `summary` a turn's items are its first user message and its last agent message. */
  listTurns(threadId: string, query: PageQuery & { view: TurnItemsView }): Promise<Page<StoredTurn>>;
  /** Of a turn in progress, what is under way comes last, as far as it was saved. Rejects with `turn_not_found` and `item_not_found`. */
  listItems(threadId: string, query: ItemQuery): Promise<Page<StoredItem>>;
  /** Those of the items that the turn has, in its order; none where the thread has no such turn. */
  readItems(threadId: string, wanted: { turnId: string; itemIds: readonly string[] }): Promise<StoredItem[]>;
  /** What the model has read and said so far, oldest first. */
  readModelItems(threadId: string): Promise<ResponseItem[]>;
  /** Closes every writer and the store itself. */
  close(): Promise<void>;
}
