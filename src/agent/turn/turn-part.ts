import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-store.ts';
import type { Action } from '../../tools/action.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Outbox, Step } from '../outbox.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';

/** Why a turn began: a client's input, a command of the user's, or a part of the thread that goes on by itself. */
export type TurnKind = 'user' | 'shell' | 'goal';

/** Who interrupted a turn: the user, or the server because it closes the thread. */
export type InterruptCause = 'user' | 'close';

/** A running turn, as its parts see it. */
export interface TurnContext {
  readonly id: string;
  readonly kind: TurnKind;
  /** The settings of its next model request. */
  readonly settings: ThreadSettings;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
}

/** How a turn ended. */
export interface TurnOutcome {
  status: 'completed' | 'interrupted' | 'failed';
  /** Null unless it failed. */
  error: TurnError | null;
  /** Null unless it was interrupted. */
  cause: InterruptCause | null;
  /** Whether the model called a tool that does more than keep records. */
  acted: boolean;
}

/** A turn that a part wants to begin while the thread is idle. */
export interface DueTurn {
  kind: TurnKind;
  /** The messages that open the turn for the model. */
  tell: ResponseItem[];
}

/**
 * Takes part in the turns of one loaded thread, at the moments that it names. At each moment the parts of a thread act in the
 * order of one list (`turn-part-kinds.ts`). Moments with a step change memory at once; the step is stored and announced with the
 * moment's own commit.
 */
export interface TurnPart {
  /** The tools that it offers. Asked once for each model request; the calls of the response are looked up in that list. */
  tools?(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Asked when the thread is idle: the turn that the part wants to begin; null: none. */
  due?(): DueTurn | null;
  /** What a client is told that resumes the thread. */
  resumed?(): Announcement[];

  /** A client gave input or a command, to a turn that begins or to one that runs. */
  inputArrived?(): Step;
  /** The turn's start is stored. The step goes with `turn/started`. */
  turnBegan?(turn: TurnContext): Step;
  /** A response has used tokens. */
  tokensUsed?(turn: TurnContext, usage: TokenUsageBreakdown): Step;
  /** The turn ends. Called again, with the failure, if the end could not be stored. */
  turnEnded?(turn: TurnContext, outcome: TurnOutcome): Step;

  /** Before each model request: what the model must be told. */
  beforeRequest?(turn: TurnContext): Promise<{ tell?: ResponseItem[] }>;
  /** Before policy judges an action. `refuse` is the reason, for the model. A part that throws here refuses. */
  beforeAction?(action: Action, turn: TurnContext): Promise<{ refuse?: string }>;

  /** The turn ends: gives up what belonged to it alone. Runs before the ending is stored. A failure is logged. */
  cleanUp?(turn: TurnContext): Promise<void>;
  /** The thread is reverted or given up: ends what still runs for it. */
  endWork?(): Promise<void>;
}

/** What a part is made with. */
export interface TurnPartDeps {
  readonly threadId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbox: Outbox;
  readonly processes: Processes;
  /** Absolute: heddle's home. */
  readonly home: string;
  /** The server's own environment. */
  readonly env: Env;
  record(): ThreadRecord;
  configuration(): ThreadConfiguration;
  /** Changes the record in memory at once. What stores the change goes through the outbox. */
  keep(patch: ThreadPatch): void;
  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void>;
}

/** A kind of part: every loaded thread has one part of each kind. */
export interface TurnPartKind {
  create(deps: TurnPartDeps): TurnPart;
  /** What reverting changes in the record of a thread, loaded or not. */
  reverted?(record: ThreadRecord): ThreadPatch;
}

/** What reverting changes in the record of a thread, by all kinds of parts. */
export function revertedPatch(kinds: readonly TurnPartKind[], record: ThreadRecord): ThreadPatch {
  return Object.assign({}, ...kinds.map((kind) => kind.reverted?.(record) ?? {})) as ThreadPatch;
}
