/**
 * Work whose result many want at the same time, such as a look at the system. One run goes on at a
 * time, so that those who ask often take no more than that.
 */
export class SharedRuns<Result> {
  readonly #work: () => Promise<Result>;
  #running: Promise<unknown> | null = null;
  #next: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  /** Resolves with the result of a run that begins after this call. Rejects as the run does. */
  get(): Promise<Result> {
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<Result> {
    // Also if none runs: others may ask until then.
    await this.#running;
    this.#next = null;
    const run = this.#work();
    this.#running = run.catch(() => {});
    return run;
  }
}
