import type { Approve } from '../exec-options.ts';
import type { Screen } from '../screen.ts';
import { decisionFor } from './decision-choices.ts';
import { type Choice, type Dialog, type Dialogs, NobodyThere } from './dialogs.ts';

/** How approvals are decided, and where a person reads and answers. */
export interface AskedPersonOptions {
  approve: Approve;
  screen: Screen;
  dialogs: Dialogs;
}

/** The person at the terminal, or `--approve` in their place. */
export class AskedPerson {
  readonly screen: Screen;
  readonly #approve: Approve;
  readonly #dialogs: Dialogs;

  constructor({ approve, screen, dialogs }: AskedPersonOptions) {
    this.#approve = approve;
    this.screen = screen;
    this.#dialogs = dialogs;
  }

  /** The decision about something that needs approval. Declines if nobody can be asked. */
  async decide<T>({
    lines,
    choices,
    signal,
  }: {
    lines(): string[];
    choices: Choice<T>[];
    signal: AbortSignal;
  }): Promise<T> {
    if (this.#approve !== 'ask') return decisionFor(this.#approve, choices);
    try {
      return await this.#dialogs.ask(signal, (dialog) => {
        dialog.show('', ...lines());
        return dialog.choose(choices);
      });
    } catch (error) {
      if (!(error instanceof NobodyThere)) throw error;
      this.screen.note(
        `${lines()[0]} Declined: ${error.message}. --approve accept would allow it.`,
      );
      return decisionFor('decline', choices);
    }
  }

  /** The answer to a question that only a person can answer. Rejects if nobody can be asked. */
  async answer<T>(
    what: string,
    signal: AbortSignal,
    work: (dialog: Dialog) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#dialogs.ask(signal, (dialog) => {
        dialog.show('', what);
        return work(dialog);
      });
    } catch (error) {
      if (error instanceof NobodyThere) this.screen.note(`${what} Not answered: ${error.message}.`);
      throw error;
    }
  }
}
