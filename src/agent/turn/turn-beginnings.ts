import { SerialQueue } from '../../base/keyed-queue.ts';

/**
 * Runs the beginnings of turns, and the changes that affect the next turn, one at a time and in
 * order. Requests have priority over due turns: a due turn begins only if nothing is queued.
 * Requests that arrive in the meantime wait until the turn has begun.
 */
export class TurnBeginnings {
  readonly #queue = new SerialQueue();
  #turns = 0;
  #changes = 0;

  /** Begins a turn, or adds input to one, after everything queued before. */
  begin<T>(begin: () => Promise<T>): Promise<T> {
    this.#turns++;
    return this.#queue.run(begin).finally(() => {
      this.#turns--;
    });
  }

  /** Makes a change, after everything queued before. No turn begins during it. */
  change<T>(change: () => Promise<T>): Promise<T> {
    this.#changes++;
    return this.#queue.run(change).finally(() => {
      this.#changes--;
    });
  }

  /** Whether a turn is being begun or is queued to begin. */
  get isBeginning(): boolean {
    return this.#turns > 0;
  }

  /** Whether nothing runs or is queued. */
  get none(): boolean {
    return this.#turns + this.#changes === 0;
  }

  /** Resolves when everything queued so far is done. */
  settle(): Promise<void> {
    return this.#queue.idle();
  }
}
