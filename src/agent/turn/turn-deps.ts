import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Model, ModelRequest } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadItem, ThreadTokenUsage, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ThreadCalls } from '../calls/thread-calls.ts';
import type { ShownReasoning } from '../items/shown-reasoning.ts';
import type { Outbox, Step } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';
import type { TurnParts } from './turn-parts.ts';

/** What a turn depends on: its thread and the server. */
export interface TurnDeps {
  readonly threadId: string;
  readonly model: Model;
  readonly outbox: Outbox;
  readonly parts: TurnParts;
  readonly calls: ThreadCalls;
  readonly clock: Clock;
  readonly log: Log;
  readonly shownReasoning: ShownReasoning;
  newId(): string;
  /** Tells the thread's clients at once: for deltas, which are not stored one by one. */
  announce(announcement: Announcement): void;
  /** Null while the thread's clients read what they are told; else resolves when they have caught up. */
  drained(): Promise<void> | null;
  /** The next model request: all that the thread has on record, with these tools. */
  request(turn: ActiveTurn, tools: readonly Tool[]): Promise<ModelRequest>;
  /** What the thread has cost so far; null: it is not known. */
  tokenUsage(): ThreadTokenUsage | null;
  /** The step that adds to the thread's token count. */
  tokensStep(turn: ActiveTurn, usage: TokenUsageBreakdown): Step;
  /** The step that gives the thread another status. */
  statusStep(status: 'active' | 'idle' | 'systemError'): Step & Required<Pick<Step, 'announce'>>;
  /** Takes back what was allowed for the turn alone. */
  endGrants(): void;
}

/** What a turn does before the model is asked. Rejects only with the store's error. */
export type TurnOpening = (turn: ActiveTurn) => Promise<void>;

/** A turn under way, and what its end will need to know. */
export interface RunningTurn {
  readonly deps: TurnDeps;
  readonly turn: ActiveTurn;
  lastMessage: ThreadItem | null;
  /** Whether the model has called a tool that does more than keep records. */
  acted: boolean;
  /** The items that had begun when the store failed. */
  cutOff: StoredItem[];
  /** The items that began in the turn and go on after its end. */
  runningOn: StoredItem[];
}

/** An error that has no name of its own on the wire. */
export function otherError(message: string): TurnError {
  return { message, codexErrorInfo: 'other', additionalDetails: null };
}
