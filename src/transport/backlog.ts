import type { Transport } from './transport.ts';

/**
 * With more unread output than this, everything that can wait (a streaming turn, the reader) waits
 * for the client.
 */
const BACKLOG_BYTES_HIGH = 4 * 1024 * 1024;
const BACKLOG_BYTES_LOW = BACKLOG_BYTES_HIGH / 4;

/** A remote client is cut off when more messages wait for it. */
const REMOTE_MESSAGES_MAX = 32_768;
/** A remote client is cut off when more bytes wait for it. */
const REMOTE_BYTES_MAX = 16 * 1024 * 1024;
/** A long message counts at most as so many bytes there: its text is made when it is sent. */
const COUNTED_BYTES_MAX = 256 * 1024;

/** The output that a slow client has not read, and those who wait for the client. */
export class Backlog {
  readonly #transport: Pick<Transport, 'backlog'>;
  /** Of messages that the transport does not have yet, in characters. */
  #queuedLength = 0;
  /** The messages that the operating system has not accepted. */
  #messages = 0;
  /** Their length, with at most COUNTED_BYTES_MAX of each. */
  #countedLength = 0;
  #isGone = false;
  #drained: { promise: Promise<void>; resolve: () => void } | null = null;

  constructor(transport: Pick<Transport, 'backlog'>) {
    this.#transport = transport;
  }

  /** A message of this length waits to be written. */
  queued(length: number): void {
    this.#queuedLength += length;
    this.#messages++;
    this.#countedLength += counted(length);
  }

  /** It is given to the transport. */
  written(length: number): void {
    this.#queuedLength -= length;
  }

  /** The output that the operating system has not accepted. */
  get unread(): { unreadMessages: number; unreadBytes: number } {
    return { unreadMessages: this.#messages, unreadBytes: this.#bytes() };
  }

  /** Whether more waits than for any client that reads. */
  get isTooLong(): boolean {
    return this.#messages > REMOTE_MESSAGES_MAX || this.#countedLength > REMOTE_BYTES_MAX;
  }

  /** The operating system has accepted messages of these lengths. */
  taken(lengths: readonly number[]): void {
    this.#messages -= lengths.length;
    for (const length of lengths) this.#countedLength -= counted(length);
    if (this.#bytes() <= BACKLOG_BYTES_LOW) this.#release();
  }

  /** The client is gone: nobody waits for it any more. */
  giveUp(): void {
    this.#isGone = true;
    this.#release();
  }

  /**
   * Returns null while the client keeps up with reading, else a promise that resolves when it has
   * caught up, or is gone.
   */
  drained(): Promise<void> | null {
    if (this.#isGone || this.#bytes() < BACKLOG_BYTES_HIGH) return null;
    if (this.#drained === null) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  #bytes(): number {
    return this.#queuedLength + this.#transport.backlog;
  }

  #release(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }
}

function counted(length: number): number {
  return Math.min(length, COUNTED_BYTES_MAX);
}
