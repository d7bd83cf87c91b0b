import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { HookForm } from '../../hooks/hook-call.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type {
  NonSteerableTurnKind,
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import type { Action, ActionOutcome, Ask, Verdict } from '../../tools/action.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { Tool } from '../../tools/tool.ts';
import type { StepAddition } from '../outbox/step.ts';

/**
 * The kind of a turn, by what began it: input of a client, a user command, the goal of the thread,
 * a review, which takes no input, or a request to compact the thread.
 */
export type TurnKind = 'user' | 'shell' | 'goal' | 'review' | 'compact';

/** A running turn, as its parts see it. */
export interface TurnContext {
  readonly id: string;
  /** The turn that it belongs to: that of the thread that started this agent, or itself. */
  readonly rootTurnId: string;
  readonly kind: TurnKind;
  readonly startedAtMs: number;
  /** The facts that its client adds to requests. */
  readonly clientMetadata: Readonly<Record<string, string>>;
  /** The settings of its next model request. */
  settings: ThreadSettings;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** Null unless the turn was interrupted. */
  readonly interruptCause: InterruptCause | null;
  /** Why the turn takes no steering now: work of this kind runs in it. Null: it takes it. */
  steerRefusal: NonSteerableTurnKind | null;
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

/** A turn that a part wants to begin. */
export interface DueTurn {
  kind: TurnKind;
  /** The messages for the model that begin the turn. */
  tell: ResponseItem[];
  /**
   * Work before the model is asked; without it, the model is asked at once. Returns the error that
   * fails the turn; null: none. Rejects only with the store's error.
   */
  readonly opening?: (turn: TurnContext) => Promise<TurnError | null>;
}

/** Input of a user that is stored: the item for clients, and the items for the model. */
export interface ArrivedInput {
  item: UntimedItem;
  model: AuthoredItem[];
  atMs: number;
  /** The parts check it before the model reads it. It is stored as an unfinished item. */
  isWithheld?: true;
}

/** A call of the model to a tool that was offered, before the tool has read its arguments. */
export interface PendingCall {
  /** The model's id for the call. */
  callId: string;
  tool: string;
  /** Null: the tool is in no namespace. */
  namespace: string | null;
  args: JsonValue;
  /** How hooks see the call. Absent: by the name of its tool. */
  hookForm?: HookForm;
}

/** The decision of the parts about a call. */
export interface CallDecision {
  /** Replaces the arguments. */
  args?: JsonValue;
  /** Why the call is refused, for the model. */
  refuse?: string;
  /** Why the reviewer in force must approve the call, even if policy allows it. */
  ask?: string;
  /** Messages that the model reads with the output. */
  tell?: ResponseItem[];
}

/** The end of a turn in place of a request to the model. */
export interface EndBeforeRequest {
  /** The error that fails the turn; null: it completes. */
  error: TurnError | null;
}

/** A response of the model that has ended. */
export interface EndedResponse {
  status: 'completed' | 'failed' | 'interrupted';
  /** Null unless it failed. */
  error: TurnError | null;
  /** Null: the provider did not tell it. */
  usage: TokenUsageBreakdown | null;
}

/** A question of an action, with the call that it is about. Null: the model did not call for it. */
export interface AskedApproval {
  ask: Ask;
  call: PendingCall | null;
  /**
   * Why a check of the call demands the approval, which only the reviewer in force can then give.
   * Parts can refuse it. Null: policy.
   */
  demand: string | null;
}

/** The reason of a compaction: a client asked for it, or the prompt is too long. */
export type CompactionTrigger = 'manual' | 'auto';

/** A call of a tool of an MCP server by another part. */
export interface McpCall {
  server: string;
  tool: string;
  input: JsonObject;
}

/**
 * How a thread came to be loaded: a client started it, with a clear history, or it was resumed or
 * forked.
 */
export type ThreadOrigin = 'startup' | 'clear' | 'resume' | 'fork';

/** The result of a part, at once or later. An interrupt of the turn ends the wait. */
export type Awaitable<T> = T | Promise<T>;

/**
 * A feature that takes part in the turns of one loaded thread. Each method is a moment of a turn; a
 * part implements the moments that it needs. At each moment the parts act in the order of
 * `turn-part-list.ts`. A method that returns a step changes memory at once; the turn stores and
 * announces the step in its own commit of that moment. If a method throws, the error is logged, and
 * the part is passed over. But an error of `tools` or `beforeRequest` fails the turn, and one of a
 * moment that decides refuses: `checkInput`, `beforeCall`, `beforeAction`.
 */
export interface TurnPart {
  /**
   * The tools that the part offers. Called once for each model request; the calls of the response
   * are looked up in that list.
   */
  tools?(signal: AbortSignal): Awaitable<readonly Tool[]>;
  /** Called with the tools that all parts offer. Returns those that take their place. */
  arrangeTools?(tools: readonly Tool[]): Awaitable<readonly Tool[]>;
  /** Called when the thread is idle. Returns the turn that the part wants to begin, or null. */
  due?(): DueTurn | null;
  /** The announcements for a client that resumes the thread. */
  resumed?(): Announcement[];

  /** A client's input begins or joins a turn, or a user command begins one. */
  inputArrived?(): StepAddition;
  /** The turn's start is stored. The step is committed with `turn/started`. */
  turnBegan?(turn: TurnContext): StepAddition;
  /** A response has used tokens. */
  tokensUsed?(turn: TurnContext, usage: TokenUsageBreakdown): StepAddition;
  /** The turn ends. Called again, with the status `failed`, if the end could not be stored. */
  turnEnded?(turn: TurnContext, outcome: TurnOutcome): StepAddition;

  /**
   * Whether input waits for `checkInput` before the model reads it. Until then, a kill shows it to
   * clients, and not to the model.
   */
  withholdsInput?(): boolean;
  /**
   * Before the turn takes the input that has arrived, at its beginning and before each further
   * request. `tell`: messages that the model reads before that input. `end`: the turn ends here.
   */
  beforeInput?(turn: TurnContext): Awaitable<{ tell?: ResponseItem[]; end?: true }>;
  /**
   * Before the model reads input that was withheld. `refuse`: it does not read it. `end`: nor does
   * it read anything else, because the turn ends here. `tell`: messages that it reads after the
   * input, or in its place with the next request.
   */
  checkInput?(
    input: ArrivedInput,
    turn: TurnContext,
  ): Awaitable<{ refuse?: true; end?: true; tell?: ResponseItem[] }>;
  /**
   * Before each model request. `tell`: messages that the model reads with it. They are stored
   * before the next part acts; then `told` is called. `end`: the turn ends instead.
   */
  beforeRequest?(
    turn: TurnContext,
  ): Awaitable<{ tell?: ResponseItem[]; told?(): void; end?: EndBeforeRequest }>;
  /**
   * A response has ended, and its calls may run. Not called for one that broke off and is continued
   * by the next request.
   */
  afterRequest?(response: EndedResponse, turn: TurnContext): Awaitable<void>;
  /**
   * The model has nothing more to do. `goOn`: an item and messages for the model, with which the
   * turn goes on.
   */
  stopping?(
    turn: TurnContext,
    lastMessage: string | null,
  ): Awaitable<{ goOn?: { item: UntimedItem; tell: ResponseItem[] } }>;
  /**
   * A model request has failed for good. `again`: the part has an answer to the failure, and the
   * model is asked again.
   */
  requestFailed?(error: TurnError, turn: TurnContext): { again?: boolean };
  /** The model forgets what it has read so far. Returns what it must read again for this turn. */
  compacted?(turn: TurnContext): AuthoredItem[];
  /** Before a tool reads the arguments of a call. The first refusal counts. */
  beforeCall?(call: PendingCall, turn: TurnContext): Awaitable<CallDecision>;
  /** Whether `afterCall` may change the output of this call. */
  watchesCall?(call: PendingCall): boolean;
  /**
   * After a watched call was performed, and its output stored. `output` replaces what the model
   * reads.
   */
  afterCall?(
    call: PendingCall,
    outcome: ActionOutcome,
    turn: TurnContext,
  ): Awaitable<{ output?: string; tell?: ResponseItem[] }>;
  /** Before a reviewer is asked. Returns a verdict in place of the reviewer's, or null. */
  approvalAsked?(asked: AskedApproval, turn: TurnContext): Awaitable<Verdict | null>;
  /** Before the thread is compacted. `stop`: it is not compacted, and the turn is interrupted. */
  beforeCompaction?(turn: TurnContext, trigger: CompactionTrigger): Awaitable<{ stop?: true }>;
  /** After the thread was compacted. `stop`: the turn is interrupted. */
  afterCompaction?(turn: TurnContext, trigger: CompactionTrigger): Awaitable<{ stop?: true }>;
  /**
   * Calls a tool of an MCP server, without asking anybody. Null: the part has no server of this
   * name. Rejects if the call fails.
   */
  callMcpTool?(call: McpCall, signal: AbortSignal): Promise<string> | null;
  /**
   * Before policy judges an action that earlier parts let pass. `refuse`: why the part refuses it,
   * for the model. User commands do not come here, nor does an action that asks for more while it
   * is performed.
   */
  beforeAction?(action: Action, turn: TurnContext): Awaitable<{ refuse?: string }>;

  /** The turn ends. Frees what belongs to this turn only. Runs before the ending is stored. */
  cleanUp?(turn: TurnContext): Promise<void>;
  /** The thread is closed, and no turn runs any more. */
  closed?(): Promise<void>;
  /** The thread is reverted or closed. Ends everything that still runs for it. */
  endWork?(): Promise<void>;
}
