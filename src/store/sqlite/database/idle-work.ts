import type { Clock, Timer } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { isBusy } from '../connect/as-store-error.ts';

/** The WAL is moved into the database after this time without a write. */
const CHECKPOINT_IDLE_MS = 1_000;
/**
 * The pause after the last write and between two runs of collecting, so that writers come first.
 */
const COLLECT_IDLE_MS = 50;
/**
 * The limits of one run of collecting: no part begins after this time, and there are no more parts
 * than this.
 */
const COLLECT_MS_MAX = 10;
const COLLECT_PARTS_MAX = 5;

export interface IdleWorkOptions {
  clock: Clock;
  log: Log;
  /**
   * Removes a part of the data that no thread needs any more. Returns false if there was none left.
   */
  collect: () => boolean;
  /** Moves the WAL into the database. */
  checkpoint: () => void;
}

/**
 * Maintains a database while this process does not write to it: removes discarded logs and runs
 * checkpoints.
 */
export class IdleWork {
  readonly #options: IdleWorkOptions;
  #timer: Timer | null = null;
  #wroteAtMs = 0;
  /** True at first, because a process that died may have left something. */
  #mayCollect = true;

  constructor(options: IdleWorkOptions) {
    this.#options = options;
  }

  /** Call it after each write. */
  wrote(): void {
    this.#wroteAtMs = this.#options.clock.monotonic();
    if (this.#timer === null) this.#wait(CHECKPOINT_IDLE_MS);
  }

  /** Call it when there may be something to collect. */
  discarded(): void {
    this.#mayCollect = true;
    if (this.#timer === null) this.#wait(CHECKPOINT_IDLE_MS);
  }

  close(): void {
    this.#timer?.clear();
    this.#timer = null;
  }

  #wait(ms: number): void {
    this.#timer = this.#options.clock.setTimer(() => this.#act(), ms);
  }

  #act(): void {
    this.#timer = null;
    const idleMs = this.#options.clock.monotonic() - this.#wroteAtMs;
    if (this.#mayCollect && idleMs >= COLLECT_IDLE_MS) this.#mayCollect = this.#collect();
    if (this.#mayCollect) this.#wait(COLLECT_IDLE_MS);
    else if (idleMs < CHECKPOINT_IDLE_MS) this.#wait(CHECKPOINT_IDLE_MS - idleMs);
    else this.#checkpoint();
  }

  /** Returns false if nothing is left to collect. */
  #collect(): boolean {
    const { clock, collect } = this.#options;
    const startMs = clock.monotonic();
    try {
      for (
        let parts = 0;
        parts < COLLECT_PARTS_MAX && clock.monotonic() - startMs < COLLECT_MS_MAX;
        parts++
      )
        if (!collect()) return false;
      return true;
    } catch (error) {
      if (isBusy(error)) return true;
      // The data stays and does no harm. The next deletion of a thread or the next process tries
      // again.
      this.#options.log.warn(
        { err: error },
        'the data of deleted threads could not be removed; it stays in the database for now',
      );
      return false;
    }
  }

  #checkpoint(): void {
    try {
      this.#options.checkpoint();
    } catch (error) {
      // Nothing is lost: the data stays in the WAL, and the next idle moment tries again.
      this.#options.log.warn({ err: error }, 'the WAL could not be moved into the database');
    }
  }
}
