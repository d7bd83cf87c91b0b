import type { ModelRequest } from '../../model/model.ts';
import type { ResponseItem, ThreadItem, TurnError } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ActiveTurn } from './active-turn.ts';
import type { EndBeforeRequest } from './turn-part.ts';
import type { TurnParts } from './turn-parts.ts';

/** How a turn ended. */
export type Ending =
  | { status: 'completed' }
  | { status: 'interrupted' }
  | { status: 'failed'; error: TurnError };

/**
 * A request to the model. Call `end` when its response has ended: until then its prompt stays in
 * memory.
 */
export interface PreparedRequest {
  request: ModelRequest;
  end(): void;
}

/**
 * The conversation of a turn with the model: mostly that of its thread, but a review has one of its
 * own.
 */
export interface Conversation {
  /** The tools for the next request. */
  tools(turn: ActiveTurn): Promise<readonly Tool[]>;
  /**
   * Prepares the next request. `tell` stores messages that the model reads with it. Null: the turn
   * goes on.
   */
  beforeRequest(
    turn: ActiveTurn,
    tell: (messages: readonly ResponseItem[]) => Promise<void>,
  ): Promise<EndBeforeRequest | null>;
  /** The parts that act at the moments of its input, its responses and its end. Null: none. */
  readonly parts: TurnParts | null;
  /** Builds the next request with these tools. Returns the error if it is too large. */
  request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError>;
  /**
   * A request has failed for good, and the calls of its response have ended. Returns whether the
   * model is asked again, although no part has an answer to the failure.
   */
  requestFailed(error: TurnError): boolean;
  /**
   * Keeps the entries that belong to this conversation only, and returns the rest, which is stored
   * in the thread's log.
   */
  withoutOwn(entries: LogEntry[]): LogEntry[];
  /** Whether clients see the model's messages. */
  readonly showsMessages: boolean;
  /**
   * The result of the conversation, which is stored and announced with the turn's end. May be
   * called again, with a failure.
   */
  result(ending: Ending): { step: StepAddition; message: ThreadItem | null } | null;
}

/** The conversation of a turn in its thread. */
export function threadConversation({
  parts,
  request,
}: {
  parts: TurnParts;
  request: Conversation['request'];
}): Conversation {
  return {
    tools: ({ signal }) => parts.tools(signal),
    beforeRequest: (turn, tell) => parts.beforeRequest(turn, tell),
    parts,
    request,
    requestFailed: () => false,
    withoutOwn: (entries) => entries,
    showsMessages: true,
    result: () => null,
  };
}
