import type { Clock, Timer } from '../base/clock.ts';

/** The first wait before a server is started again. It doubles with each failure. */
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 60_000;
/** A server that has run so long is started again after the shortest wait. */
const STEADY_MS = 60_000;

/** When a server that has failed is started again, whoever asks for it: after waits that grow with each failure. */
export class RestartWaits {
  readonly #clock: Clock;
  #failures = 0;
  #readySinceMs: number | null = null;
  /** The monotonic time of the next start. */
  #dueMs = 0;
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a start is to come. */
  get isSet(): boolean {
    return this.#timer !== null;
  }

  ready(): void {
    this.#readySinceMs = this.#clock.monotonic();
  }

  failed(): void {
    const nowMs = this.#clock.monotonic();
    const wasSteady = this.#readySinceMs !== null && nowMs - this.#readySinceMs >= STEADY_MS;
    this.#readySinceMs = null;
    this.#failures = wasSteady ? 1 : this.#failures + 1;
    this.#dueMs = nowMs + Math.min(WAIT_MS_MIN * 2 ** (this.#failures - 1), WAIT_MS_MAX);
  }

  /** Calls back when the wait is over, which may be at once. */
  whenDue(start: () => void): void {
    if (this.isSet) return;
    const ms = this.#dueMs - this.#clock.monotonic();
    if (ms <= 0) start();
    else this.#timer = this.#clock.setTimer(start, ms);
  }

  /** Nothing is called back any more. The wait goes on. */
  clear(): void {
    this.#timer?.clear();
    this.#timer = null;
  }

  /** The next start need not wait. */
  skip(): void {
    this.#dueMs = 0;
  }
}
