/** A point at which something waits until the test lets it pass. */
export class Gate {
  /** Resolves when a caller waits at the gate. */
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #arrive: () => void = () => {};
  #open: () => void = () => {};

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#arrive = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  /** Resolves when the gate is open, or the signal aborts. */
  pass(signal?: AbortSignal): Promise<void> {
    this.#arrive();
    if (signal === undefined) return this.#opened;
    if (signal.aborted) return Promise.resolve();
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return Promise.race([this.#opened, aborted]);
  }
}
