interface Waiter {
  bytes: number;
  begin: () => void;
}

/**
 * Limits how many bytes several tasks hold together. Tasks that would exceed the limit wait, in
 * their order.
 */
export class ByteBudget {
  readonly #bytesMax: number;
  #held = 0;
  #waiting: Waiter[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Resolves when the task may hold so many bytes, with the function that returns them; it can be
   * called again. A task that needs more than the whole budget gets it when no other task holds
   * any.
   */
  async take(bytes: number): Promise<() => void> {
    if (this.#waiting.length > 0 || !this.#hasRoomFor(bytes)) {
      await new Promise<void>((begin) => this.#waiting.push({ bytes, begin }));
    } else this.#held += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#return(bytes);
      isHeld = false;
    };
  }

  #return(bytes: number): void {
    this.#held -= bytes;
    for (
      let next = this.#waiting[0];
      next !== undefined && this.#hasRoomFor(next.bytes);
      next = this.#waiting[0]
    ) {
      this.#held += next.bytes;
      this.#waiting.shift();
      next.begin();
    }
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bytesMax;
  }
}
