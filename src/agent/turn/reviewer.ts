import type { Ask, OpenItem, Verdict } from '../../tools/action.ts';
import type { TurnContext } from './turn-part.ts';

/** The part of a question that a reviewer needs who is not a person. */
export type ActionQuestion = Pick<Ask, 'permit' | 'describe' | 'signal'>;

/** Instead of a verdict: why a person has to decide. */
export interface ForPerson {
  person: string;
}

/** Answers questions about actions. */
export interface Reviewer<Question extends ActionQuestion = Ask, Answer = Verdict> {
  /**
   * Returns a verdict. `show` begins the item that the question is about, unless it has begun; it
   * resolves with null if there is none. Rejects only with the store's error.
   */
  review(
    question: Question,
    show: () => Promise<OpenItem | null>,
    turn: TurnContext,
  ): Promise<Answer>;
}
