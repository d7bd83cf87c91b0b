/**
 * Keeps the two ways in which a turn begins apart: at a client's request, and by itself. What a client wants goes first; where a
 * turn that nobody asked for is being begun already, the request waits that moment, and then joins it.
 */
export class TurnBeginnings {
  #requested = 0;
  #alone: Promise<void> | null = null;

  /** Runs what a request begins. */
  async requested<T>(begin: () => Promise<T>): Promise<T> {
    this.#requested++;
    try {
      await this.#alone;
      return await begin();
    } finally {
      this.#requested--;
    }
  }

  /** Whether neither is under way. */
  get none(): boolean {
    return this.#requested === 0 && this.#alone === null;
  }

  /** Runs what begins by itself; `begin` must not reject. Only while there is none. */
  alone(begin: () => Promise<void>): void {
    this.#alone = begin().finally(() => {
      this.#alone = null;
    });
  }

  /** Resolves when what begins by itself has begun. */
  async settle(): Promise<void> {
    await this.#alone;
  }
}
