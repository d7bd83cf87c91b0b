import type { Announcement } from '../../protocol/announcement.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { Tool } from '../../tools/tool.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ActiveTurn, TurnKind } from './active-turn.ts';
import type { DueInput } from './due-input.ts';
import type { PendingCall, TurnEffects, TurnEvents, TurnFacts } from './turn-events.ts';

/** A running turn, as its parts see it. They can change the settings of its next model request. */
export type TurnContext = Pick<ActiveTurn, 'settings' | 'steerRefusal'> &
  Readonly<
    Pick<
      ActiveTurn,
      'id' | 'rootTurnId' | 'kind' | 'startedAtMs' | 'clientMetadata' | 'signal' | 'interruptCause'
    >
  >;

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

/** A client has started or forked a thread, or resumed it; or its configuration was read again. */
export type Opening = 'started' | 'resumed' | 'reconfigured';

/** The result of a part, at once or later. An interrupt of the turn ends the wait. */
export type Awaitable<T> = T | Promise<T>;

/** The handlers that a part has for events. */
export type EventHandlers = {
  readonly [Event in keyof TurnEvents]?: (
    event: TurnFacts[Event],
    turn: TurnContext,
  ) => Awaitable<TurnEffects[Event]>;
};

/**
 * A feature that takes part in the turns of one loaded thread. Each method is a moment of a turn; a
 * part implements the moments that it needs. At each moment the parts act in the order of
 * `turn-part-list.ts`. A method that returns a step changes memory at once; the turn stores and
 * announces it in its own commit of that moment. A part that throws is passed over. But an error of
 * `tools` or `beforeRequest` fails the turn, and one in `on` counts as its row in `turn-events.ts`.
 */
export interface TurnPart {
  /**
   * The tools for a model request: those that the parts before it offer, and its own, or others in
   * their place. The calls of the response are looked up in the list of the last part.
   */
  tools?(soFar: readonly Tool[], signal: AbortSignal): Awaitable<readonly Tool[]>;
  /** Called when the thread is idle. Returns the turn that the part wants to begin, or null. */
  due?(): DueTurn | DueInput | null;
  /** Returns the announcements for a client that has resumed the thread. */
  opened?(how: Opening): Announcement[];

  /** A client's input begins or joins a turn, or a user command begins one. */
  inputArrived?(): StepAddition;
  /** The turn's start is stored. The step is committed with `turn/started`. */
  turnBegan?(turn: TurnContext): StepAddition;
  /** A response has used tokens. Without a turn: agents below the thread have used them. */
  tokensUsed?(turn: TurnContext | null, usage: TokenUsageBreakdown): StepAddition;
  /** The turn ends. Called again, with the status `failed`, if the end could not be stored. */
  turnEnded?(turn: TurnContext, outcome: TurnOutcome): StepAddition;
  /**
   * Whether the part handles `input`, which then waits for it: until then, a kill shows it to
   * clients, and not to the model. Or whether it handles that this call was `called`.
   */
  wants?(event: 'input' | 'called', about: PendingCall | null): boolean;

  /**
   * Before each model request. `tell`: messages that the model reads with it. They are stored
   * before the next part acts; then `told` is called. `end`: the turn ends instead.
   */
  beforeRequest?(
    turn: TurnContext,
  ): Awaitable<{ tell?: ResponseItem[]; told?(): void; end?: EndBeforeRequest }>;
  /**
   * A response has ended, and its calls may run. Not called for one that broke off and is continued
   * by the next request. `again`: the part has an answer to its failure, and the model is asked
   * again.
   */
  requestEnded?(response: EndedResponse, turn: TurnContext): Awaitable<{ again?: true }>;
  /**
   * The model has nothing more to do. `goOn`: an item and messages for the model, with which the
   * turn goes on.
   */
  stopping?(
    turn: TurnContext,
    lastMessage: string | null,
  ): Awaitable<{ goOn?: { item: UntimedItem; tell: ResponseItem[] } }>;
  /** The model forgets what it has read so far. Returns what it must read again for this turn. */
  readAgain?(turn: TurnContext): AuthoredItem[];
  readonly on?: EventHandlers;

  /** The turn ends. Frees what belongs to this turn only. Runs before the ending is stored. */
  cleanUp?(turn: TurnContext): Promise<void>;
  /** The thread is closed, and no turn runs any more. */
  closed?(): Promise<void>;
  /** The thread is reverted or closed. Ends everything that still runs for it. */
  endWork?(): Promise<void>;
}
