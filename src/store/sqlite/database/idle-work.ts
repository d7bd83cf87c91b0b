import type { Clock, Timer } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';

/** After so long without a write, what lies in the WAL is moved into the database. */
const CHECKPOINT_IDLE_MS = 1_000;
/** Between two parts of collecting, and after the last write: whoever wants to write comes first. */
const COLLECT_IDLE_MS = 50;
/** How long collecting goes on without a pause, unless a single part takes longer; and how many parts, each of which may be small. */
const COLLECT_MS_MAX = 10;
const COLLECT_PARTS_MAX = 5;

export interface IdleWorkOptions {
  clock: Clock;
  log: Log;
  /** Takes a part of what no thread needs any more out of the database. False where nothing was left. */
  collect: () => boolean;
  /** Moves the WAL into the database. */
  checkpoint: () => void;
}

/** What is done for a database while nobody writes to it. */
export class IdleWork {
  readonly #options: IdleWorkOptions;
  #timer: Timer | null = null;
  #wroteAtMs = 0;
  /** At first, since a process that died may have left something. */
  #mayCollect = true;

  constructor(options: IdleWorkOptions) {
    this.#options = options;
  }

  /** Takes note of a write. */
  wrote(): void {
    this.#wroteAtMs = this.#options.clock.monotonic();
    if (this.#timer === null) this.#wait(CHECKPOINT_IDLE_MS);
  }

  /** Takes note that there may be something to collect. */
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

  /** False where nothing was left. */
  #collect(): boolean {
    const { clock, collect } = this.#options;
    const startMs = clock.monotonic();
    try {
      for (let parts = 0; parts < COLLECT_PARTS_MAX && clock.monotonic() - startMs < COLLECT_MS_MAX; parts++) if (!collect()) return false;
      return true;
    } catch (error) {
      // It stays where it is, and harms nobody. The next thread that is deleted or the next process tries again.
      this.#options.log.warn({ err: error }, 'what deleted threads left in the database stays there for now');
      return false;
    }
  }

  #checkpoint(): void {
    try {
      this.#options.checkpoint();
    } catch (error) {
      // Nothing is lost with it: what could not be moved stays in the WAL, and the next idle moment tries again.
      this.#options.log.warn({ err: error }, 'the database could not take up its log');
    }
  }
}
