import type { TurnError } from '../../protocol/generated/types.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ActiveTurn } from './active-turn.ts';
import type { Conversation } from './conversation.ts';

/** How a turn begins that is stored. */
export interface TurnBeginning {
  /** Work before the model is asked; null: none. */
  opening: TurnOpening | null;
  /** Absent: that of the thread. */
  conversation?: Conversation;
  /** The step of the turn's parts, committed with `turn/started`. */
  step: StepAddition;
}

/**
 * Work of a turn before the model is asked. Returns the error that fails the turn; null: none.
 * Rejects only with the store's error.
 */
export type TurnOpening = (turn: ActiveTurn) => Promise<TurnError | null>;
