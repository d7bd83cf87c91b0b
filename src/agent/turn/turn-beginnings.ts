/**
 * Lets one thing at a time begin a turn, or change what the next one begins with. What clients want goes first: a turn that
 * nobody asked for begins only where nothing else is under way, and what is asked for meanwhile waits until it has begun.
 */
export class TurnBeginnings {
  #tail: Promise<void> = Promise.resolve();
  #turns = 0;
  #changes = 0;

  /** Begins a turn, or joins one, when all before it is done. */
  begin<T>(begin: () => Promise<T>): Promise<T> {
    this.#turns++;
    return this.#next(begin).finally(() => {
      this.#turns--;
    });
  }

  /** Makes a change during which no turn begins. */
  change<T>(change: () => Promise<T>): Promise<T> {
    this.#changes++;
    return this.#next(change).finally(() => {
      this.#changes--;
    });
  }

  /** Whether a turn is being begun. */
  get isBeginning(): boolean {
    return this.#turns > 0;
  }

  /** Whether nothing is under way. */
  get none(): boolean {
    return this.#turns + this.#changes === 0;
  }

  /** Resolves when all that is under way is done. */
  settle(): Promise<void> {
    return this.#tail;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.then(nothing, nothing);
    return done;
  }
}

const nothing = () => {};
