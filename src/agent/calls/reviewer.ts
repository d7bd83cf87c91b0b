import type { Ask, OpenItem, Verdict } from '../../tools/action.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** Answers the questions that policy asks about actions. */
export interface Reviewer {
  /**
   * Returns a verdict, or null to leave the question to the next reviewer. `show` begins the item that the question is about, unless
   * it has begun; it resolves with null if there is none. Rejects only with the store's error.
   */
  review(ask: Ask, show: () => Promise<OpenItem | null>, turn: TurnContext): Promise<Verdict | null>;
}
