/** The longest interval of Node's timers. */
const INTERVAL_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive while work is waiting, for example a turn that waits for a retry. Timers
 * of a `Clock` do not keep the process alive, so that a server without work does not prevent the
 * process from ending.
 */
export class KeepAlive {
  #count = 0;
  /** Created once: a timer for each request would cost more than many requests do. */
  #timer: NodeJS.Timeout | null = null;

  /** Keeps the process alive until the promise settles. Returns the promise. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#timer ??= setInterval(() => {}, INTERVAL_MS);
    if (this.#count++ === 0) this.#timer.ref();
    return work.finally(() => {
      if (--this.#count === 0) this.#timer?.unref();
    });
  }
}
