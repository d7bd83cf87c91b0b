import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

/** Flushes a file's data to the disk. */
export type SyncFile = (descriptor: number) => Promise<void>;

/**
 * Makes commits survive a power failure, as SQLite does with `synchronous = FULL`, but without blocking the thread: flushes the WAL
 * once they are in it. Other processes' locks are not on the WAL, so opening and closing it drops none of this one's.
 */
export class WalSync {
  readonly #path: string;
  readonly #sync: SyncFile;
  #descriptor: number | null = null;
  #running: Promise<void> = Promise.resolve();
  /** The flush after the running one. */
  #next: Promise<void> | null = null;

  constructor(file: string, sync: SyncFile = promisify(fdatasync)) {
    this.#path = `${file}-wal`;
    this.#sync = sync;
  }

  /** Resolves when all commits so far are on the disk. Calls share a flush that has not begun. Rejects with the system's error. */
  flush(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null;
        this.#running = this.#flush();
        return this.#running;
      });
    return this.#next;
  }

  /** Closes the WAL, after the flushes that were begun. */
  async close(): Promise<void> {
    await (this.#next ?? this.#running).catch(() => {});
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  async #flush(): Promise<void> {
    this.#descriptor ??= openSync(this.#path, 'r+');
    await this.#sync(this.#descriptor);
  }
}
