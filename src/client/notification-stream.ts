import { OverflowError } from './request-error.ts';

/** How many notifications may wait in an iterator that is not read. */
const NOTIFICATIONS_WAITING_MAX = 100_000;

/**
 * An iterator over what is pushed. It keeps what comes before the first `next()` and between two of them, up to a limit;
 * past it the iterator ends with an OverflowError. What waits when the source ends is still given.
 */
export class NotificationStream<T> implements AsyncIterableIterator<T> {
  readonly #onReturn: () => void;
  readonly #readers: { resolve: (result: IteratorResult<T, undefined>) => void; reject: (error: Error) => void }[] = [];
  #waiting: T[] = [];
  #head = 0;
  #end: { error: Error | null } | null = null;

  /** `onReturn` is called when nobody reads on. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(value: T): void {
    if (this.#end !== null) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ value, done: false });
    else if (this.#waiting.length - this.#head < NOTIFICATIONS_WAITING_MAX) this.#waiting.push(value);
    else {
      this.forget();
      this.end(new OverflowError(`more than ${NOTIFICATIONS_WAITING_MAX} notifications waited to be read`));
      this.#onReturn();
    }
  }

  /** Nothing more comes. With an error, the iterator throws it once what waits has been read. */
  end(error: Error | null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    for (const reader of this.#readers.splice(0)) this.#finish().then(reader.resolve, reader.reject);
  }

  /** Drops what waits. */
  forget(): void {
    this.#waiting = [];
    this.#head = 0;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#waiting.length) {
      const value = this.#waiting[this.#head++] as T;
      if (this.#head === this.#waiting.length || this.#head > NOTIFICATIONS_WAITING_MAX) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
      return Promise.resolve({ value, done: false });
    }
    if (this.#end !== null) return this.#finish();
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.forget();
    this.end(null);
    this.#onReturn();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The error is thrown once. */
  #finish(): Promise<IteratorResult<T, undefined>> {
    const error = this.#end?.error ?? null;
    this.#end = { error: null };
    return error === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error);
  }
}
