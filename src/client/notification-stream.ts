import { OverflowError } from './request-error.ts';

/** The maximum number of unread notifications in an iterator. */
const NOTIFICATIONS_WAITING_MAX = 100_000;

/**
 * An iterator over pushed values. It keeps values until they are read, up to a limit; beyond it the
 * iterator ends with an OverflowError. Values that are unread when the source ends can still be
 * read.
 */
export class NotificationStream<T> implements AsyncIterableIterator<T> {
  readonly #onReturn: () => void;
  readonly #readers: {
    resolve: (result: IteratorResult<T, undefined>) => void;
    reject: (error: Error) => void;
  }[] = [];
  #waiting: T[] = [];
  #head = 0;
  #end: { error: Error | null } | null = null;

  /** `onReturn` is called when no more values will be read. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(value: T): void {
    if (this.#end !== null) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ value, done: false });
    else if (this.#waiting.length - this.#head < NOTIFICATIONS_WAITING_MAX)
      this.#waiting.push(value);
    else {
      this.forget();
      this.end(
        new OverflowError(`more than ${NOTIFICATIONS_WAITING_MAX} notifications waited to be read`),
      );
      this.#onReturn();
    }
  }

  /** Ends the source. If there is an error, the iterator throws it after the unread values. */
  end(error: Error | null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    for (const reader of this.#readers.splice(0))
      this.#finish().then(reader.resolve, reader.reject);
  }

  /** Drops all unread values. */
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
    return error === null
      ? Promise.resolve({ value: undefined, done: true })
      : Promise.reject(error);
  }
}
