/** A call that passes through a lane. `bytes`: about how much memory it needs on its way. */
interface WeighedCall {
  bytes: number;
}

/**
 * Calls that run in their order, as long as those that run need no more than a number of bytes
 * together. The others wait.
 */
export class CallLane<Call extends WeighedCall> {
  readonly #bytesMax: number;
  readonly #waiting: Call[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(call: Call): void {
    this.#waiting.push(call);
  }

  /**
   * Takes the calls that may run now. One that needs more than all bytes runs by itself. With
   * `all`, takes them whatever they need.
   */
  take({ all = false } = {}): Call[] {
    const taken: Call[] = [];
    for (const call of this.#waiting) {
      if (!all && this.#bytes > 0 && this.#bytes + call.bytes > this.#bytesMax) break;
      this.#bytes += call.bytes;
      taken.push(call);
    }
    this.#waiting.splice(0, taken.length);
    return taken;
  }

  /** To be called when a call that was taken has ended. */
  ended({ bytes }: Call): void {
    this.#bytes -= bytes;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }
}
