/**
 * Runs tasks with the same key one after another, and tasks with different keys at the same time. A
 * task that fails does not stop those behind it. A key without tasks takes no memory.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs the task when those before it have ended. Resolves or rejects as the task does. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? task() : before.then(task);
    const tail = result.then(nothing, nothing).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /**
   * Runs a task of several keys. It enters all queues at once, so that two such tasks never wait
   * for each other. A key may occur twice.
   */
  async runAll<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const waitForEnd = (turn: () => void) => () => {
      turn();
      return ended;
    };
    const turns = [...new Set(keys)].map(
      (key) => new Promise<void>((turn) => void this.run(key, waitForEnd(turn))),
    );
    try {
      await Promise.all(turns);
      return await task();
    } finally {
      end();
    }
  }

  /**
   * Resolves when the tasks with this key that are in the queue now have ended; null: there are
   * none.
   */
  tail(key: string): Promise<void> | null {
    return this.#tails.get(key) ?? null;
  }

  /** Resolves when all tasks that are in the queue now have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

/**
 * Runs tasks one after another, each in a later microtask. A task that fails does not stop those
 * behind it.
 */
export class SerialQueue {
  #tail: Promise<void> = Promise.resolve();

  /** Runs the task when those before it have ended. Resolves or rejects as the task does. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.then(nothing, nothing);
    return result;
  }

  /** Resolves when all tasks that are in the queue now have ended. */
  idle(): Promise<void> {
    return this.#tail;
  }
}

const nothing = () => {};
