import type { SpentRetries } from '../../../model/model.ts';
import type { ThreadItem, TurnError } from '../../../protocol/generated/types.ts';
import type { StoredItem } from '../../../store/log-entry.ts';
import type { ToolCall } from '../../calls/run-tool-call.ts';
import type { ThreadCalls } from '../../calls/thread-calls.ts';
import type { ResponseItems } from '../../items/response-items.ts';
import type { ShownPart } from '../../items/streamed-item.ts';
import type { StepSequence } from '../../outbox/step.ts';
import type { ThreadContext } from '../../thread-context.ts';
import type { ActiveTurn, Arrival } from '../active-turn.ts';
import type { Conversation } from '../conversation.ts';

/** A response that broke off, as the request that continues it needs it. */
export interface BrokenResponse {
  /** Also those of the responses that it continued. */
  calls: readonly ToolCall[];
  shownBefore: ShownPart | null;
  retries: SpentRetries | undefined;
}

/** A running turn, with the facts that its end needs. */
export interface RunningTurn {
  readonly thread: ThreadContext;
  /** The calls of the thread's turns. */
  readonly calls: ThreadCalls;
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
