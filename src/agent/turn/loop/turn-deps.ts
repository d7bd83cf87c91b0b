import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Model, ModelRequest, SpentRetries } from '../../../model/model.ts';
import type {
  ThreadItem,
  ThreadTokenUsage,
  TokenUsageBreakdown,
  TurnError,
} from '../../../protocol/generated/types.ts';
import type { StoredItem } from '../../../store/log-entry.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { ToolCall } from '../../calls/run-tool-call.ts';
import type { ThreadCalls } from '../../calls/thread-calls.ts';
import type { ResponseItems } from '../../items/response-items.ts';
import type { ShownReasoning } from '../../items/shown-reasoning.ts';
import type { ShownPart } from '../../items/streamed-item.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { RawEvents } from '../../outbox/raw-events.ts';
import type { Step, StepAddition, StepSequence } from '../../outbox/step.ts';
import type { ActiveTurn, Arrival } from '../active-turn.ts';
import type { Conversation, PreparedRequest } from '../conversation.ts';
import type { ArrivedInput } from '../turn-part.ts';
import type { TurnParts } from '../turn-parts.ts';

/** The collaborators of a turn. */
export interface TurnDeps {
  readonly threadId: string;
  readonly model: Model;
  readonly outbox: Outbox;
  readonly raw: RawEvents;
  readonly parts: TurnParts;
  readonly calls: ThreadCalls;
  readonly clock: Clock;
  readonly log: Log;
  readonly shownReasoning: ShownReasoning;
  newId(): string;
  /**
   * Returns null if the thread's clients keep up with their messages, else a promise that resolves
   * when they have caught up.
   */
  drained(): Promise<void> | null;
  /**
   * Builds the next model request from the thread's history and these tools. Returns the error if
   * it is too large.
   */
  request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError>;
  /** Whether clients have not been told this in the thread yet. They have from now on. */
  isNews(facts: readonly string[]): boolean;
  /** The headers and facts that say who asks with the turn's next request. */
  identity(turn: ActiveTurn): Required<Pick<ModelRequest, 'headers' | 'clientMetadata'>>;
  /** The thread's token usage so far; null: unknown. */
  tokenUsage(): ThreadTokenUsage | null;
  /**
   * Adds the usage of a response to the thread's token usage at once, and returns the step that
   * stores and announces it. Null: the provider did not tell it, and there is nothing to store.
   */
  tokensStep(turn: ActiveTurn, usage: TokenUsageBreakdown | null): StepAddition | null;
  /**
   * Notes at once that the prompt is longer than the model can read. Returns the step that stores
   * and announces it.
   */
  exceededStep(turn: ActiveTurn): StepAddition;
  /**
   * Stores the context of the turn's settings for the model, as far as it was not told. Rejects
   * with the store's error.
   */
  tellContext(turn: ActiveTurn): Promise<void>;
  /**
   * If the thread has no preview, gives it that of this input at once, and returns the step that
   * stores it.
   */
  previewStep(input: ArrivedInput): StepAddition;
  /** Changes the thread's status at once, and returns the step that stores and announces it. */
  statusStep(
    status: 'active' | 'idle' | 'systemError',
  ): StepAddition & Required<Pick<Step, 'announce'>>;
  /** Ends the grants that were given for the turn. */
  endGrants(): void;
}

/** A response that broke off, as the request that continues it needs it. */
export interface BrokenResponse {
  /** Also those of the responses that it continued. */
  calls: readonly ToolCall[];
  shownBefore: ShownPart | null;
  retries: SpentRetries | undefined;
}

/** A running turn, with the facts that its end needs. */
export interface RunningTurn {
  readonly deps: TurnDeps;
  readonly turn: ActiveTurn;
  readonly conversation: Conversation;
  lastMessage: ThreadItem | null;
  /** Whether the model has called a tool that does more than keep records. */
  acted: boolean;
  /**
   * The work that the turn has left besides its new input: to ask the model, to ask the parts
   * whether it may stop, or none.
   */
  left: 'request' | 'stopping' | 'nothing';
  /** Input that was not announced, because the turn ended before. */
  untaken: Arrival[];
  /** The last response of the model; null: it was not asked. */
  response: ResponseItems | null;
  /**
   * The response that broke off after items of it were complete, which the next request continues.
   * Null: there is none.
   */
  broken: BrokenResponse | null;
  /** The state that the provider wants back within the turn. */
  turnState: string | null;
  /** The steps of the responses, and of the end if the turn completes. */
  readonly sequence: StepSequence;
  /**
   * The items that began in the turn and continue after its end. Null before the end is about to be
   * stored.
   */
  runningOn: StoredItem[] | null;
}

/** An error without a specific `codexErrorInfo`. */
export function otherError(message: string): TurnError {
  return { message, codexErrorInfo: 'other', additionalDetails: null };
}
