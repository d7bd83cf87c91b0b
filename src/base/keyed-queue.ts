/**
 * Runs tasks one after another where they share a key, side by side where they do not. A task that fails does not stop
 * the ones behind it; a key that has nothing to do costs nothing.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves or rejects as the task does, when its turn has come. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? task() : before.then(task);
    const tail = result.then(nothing, nothing).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when every task that is queued now has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

const nothing = () => {};
