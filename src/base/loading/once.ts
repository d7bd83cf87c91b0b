/**
 * A value that is made when it is first needed, once for all who need it. A failure is not kept,
 * because its cause may pass, such as too many open files: the next call makes the value again.
 */
export class Once<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | null = null;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** The value that is there or being made; null: nobody has needed it. */
  get made(): Promise<T> | null {
    return this.#made;
  }

  /** Rejects with the error of `make`. */
  get(): Promise<T> {
    if (this.#made !== null) return this.#made;
    const made = this.#make().catch((error: unknown) => {
      if (this.#made === made) this.#made = null;
      throw error;
    });
    this.#made = made;
    return made;
  }

  /** The next call makes the value again. */
  forget(): void {
    this.#made = null;
  }
}
