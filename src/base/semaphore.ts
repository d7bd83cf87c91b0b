/**
 * A limited number of places. A caller that finds none free waits for one, in the order of the
 * calls.
 */
export class Semaphore {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Takes a place, to be given back with `release`. Resolves with false, without a place, if the
   * signal aborts first.
   */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((one) => one !== onPlace);
        resolve(false);
      };
      const onPlace = () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      };
      this.#waiting.push(onPlace);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
