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
  SandboxPolicy,
  SessionSource,
  ThreadMemoryMode,
  ThreadTokenUsage,
} from '../protocol/generated/types.ts';
import type { GoalRecord } from './goal-record.ts';
import type { QueueHold, QueueRecord } from './queue-record.ts';

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
  /** Null: nothing was ever in it. */
  queue: QueueRecord | null;
  /** Null: the queue goes on by itself. */
  queueHold: QueueHold | null;
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
    | 'queue'
    | 'queueHold'
    | 'agentClosedAtMs'
  >
>;

/**
 * A patch, and the fields of the git information that change: the others stay, and without any the
 * information is null.
 */
export type ThreadChange = ThreadPatch & { gitFields?: Partial<GitInfo> };

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
