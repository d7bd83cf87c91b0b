import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { monotonicMs } from '../../../base/clock.ts';

/** Flushes a file's data to the disk. */
export type SyncFile = (descriptor: number) => Promise<void>;

/** How the file is flushed. Tests set it, for disks that are slow or fail. */
export interface WalSyncOptions {
  sync?: SyncFile;
  /** Flushes in this thread. */
  syncAtOnce?: (descriptor: number) => void;
}

/**
 * A flush that takes less time, in milliseconds, is fast. To wake another thread for it would take
 * longer.
 */
const FAST_MS_MAX = 2;
/** After so many fast flushes in a row this thread makes them itself, until one is not fast. */
const FAST_IN_A_ROW = 10;

/**
 * Makes commits survive a power failure, as SQLite does with `synchronous = FULL`, but a slow disk
 * does not block the thread: flushes the WAL once they are in it. Other processes' locks are not on
 * the WAL, so opening and closing it drops none of this one's.
 */
export class WalSync {
  readonly #path: string;
  readonly #sync: SyncFile;
  readonly #syncAtOnce: (descriptor: number) => void;
  #descriptor: number | null = null;
  #running: Promise<void> = Promise.resolve();
  /** The flush after the running one. */
  #next: Promise<void> | null = null;
  #fastInARow = 0;

  constructor(
    file: string,
    { sync = promisify(fdatasync), syncAtOnce = fdatasyncSync }: WalSyncOptions = {},
  ) {
    this.#path = `${file}-wal`;
    this.#sync = sync;
    this.#syncAtOnce = syncAtOnce;
  }

  /**
   * Resolves when all commits so far are on the disk. Calls share a flush that has not begun.
   * Rejects with the system's error.
   */
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
    const startMs = monotonicMs();
    if (this.#fastInARow < FAST_IN_A_ROW) await this.#sync(this.#descriptor);
    else this.#syncAtOnce(this.#descriptor);
    this.#fastInARow = monotonicMs() - startMs < FAST_MS_MAX ? this.#fastInARow + 1 : 0;
  }
}
