import type { Ask, OpenItem, Verdict } from '../../tools/action.ts';
import type { Reviewer } from '../turn/reviewer.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import type { ClientQuestions } from './client-questions.ts';

/** Asks the person who uses the thread's clients. */
export class PersonReviewer implements Reviewer {
  readonly #questions: ClientQuestions;

  constructor(questions: ClientQuestions) {
    this.#questions = questions;
  }

  review(
    ask: Ask,
    show: () => Promise<OpenItem | null>,
    { signal }: TurnContext,
  ): Promise<Verdict> {
    return this.#questions.whileWaiting('waitingOnApproval', async () => {
      await show();
      const withdrawn = ask.signal === undefined ? signal : AbortSignal.any([signal, ask.signal]);
      return ask.askPerson((request) => this.#questions.ask(request, withdrawn));
    });
  }
}
