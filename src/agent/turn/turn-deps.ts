import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Model, ModelRequest } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadItem, ThreadTokenUsage, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import type { Tool, ToolContext } from '../../tools/tool.ts';
import type { GoalKeeper } from '../goal/goal-keeper.ts';
import type { ShownReasoning } from '../items/shown-reasoning.ts';
import type { Outbox, Step } from '../outbox.ts';
import type { ActiveTurn } from './active-turn.ts';

/** What a turn needs of its thread and of the server. */
export interface TurnDeps {
  readonly threadId: string;
  readonly model: Model;
  readonly outbox: Outbox;
  readonly goal: GoalKeeper;
  readonly clock: Clock;
  readonly log: Log;
  readonly shownReasoning: ShownReasoning;
  /** What the model can call now. */
  tools(): readonly Tool[];
  /** What a tool is told for one call. */
  toolContext(turn: ActiveTurn, callId: string): ToolContext;
  /** Takes back what was allowed for the turn alone, and kills what must not outlive it. Never rejects. */
  endTools(turn: ActiveTurn): Promise<void>;
  /** The items of a turn that run on when it ends. What becomes of them is stored behind its end. */
  runningOn(turnId: string): StoredItem[];
  newId(): string;
  /** Tells the thread's clients at once: for deltas, which are not stored one by one. */
  announce(announcement: Announcement): void;
  /** Null while the thread's clients read what they are told; else resolves when they have caught up. */
  drained(): Promise<void> | null;
  /** What the model is asked next: all that the thread has on record. */
  request(turn: ActiveTurn): Promise<ModelRequest>;
  /** What the thread has cost so far; null: it is not known. */
  tokenUsage(): ThreadTokenUsage | null;
  /** The step that adds to the thread's token count. */
  tokensStep(turn: ActiveTurn, usage: TokenUsageBreakdown): Step;
  /** The step that gives the thread another status. */
  statusStep(status: 'active' | 'idle' | 'systemError'): Step;
}

/** What a turn does before the model is asked. Rejects with the store's error alone. */
export type TurnOpening = (turn: ActiveTurn) => Promise<void>;

/** A turn under way, and what its end will need to know. */
export interface RunningTurn {
  readonly host: TurnDeps;
  readonly turn: ActiveTurn;
  lastMessage: ThreadItem | null;
  /** Whether the model has called a tool that does something. */
  acted: boolean;
  /** What had begun when the store failed. */
  cutOff: StoredItem[];
  /** What had begun in the turn and goes on behind its end. */
  runningOn: StoredItem[];
}

/** An error that has no name of its own on the wire. */
export function otherError(message: string): TurnError {
  return { message, codexErrorInfo: 'other', additionalDetails: null };
}
