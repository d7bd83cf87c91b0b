/** Rings for nothing: as long as Node's timers can wait. */
const INTERVAL_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive while there is work in it that waits. No timer of a `Clock` does, so that a server without work
 * does not keep a process from its end; but a turn that waits, for a retry say, must not be lost by it.
 */
export class KeepAlive {
  #count = 0;
  /** Made once: to make one for each request would cost more than many requests do. */
  #timer: NodeJS.Timeout | null = null;

  /** Gives the promise back. The process lives until it settles. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#timer ??= setInterval(() => {}, INTERVAL_MS);
    if (this.#count++ === 0) this.#timer.ref();
    return work.finally(() => {
      if (--this.#count === 0) this.#timer?.unref();
    });
  }
}
