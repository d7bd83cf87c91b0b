import type { Clock, Timer } from '../base/clock.ts';

/** The first wait. It doubles with each failure. */
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 60_000;
/** After so long without a failure, the next wait is the shortest again. */
const STEADY_MS = 60_000;

/**
 * When something that has failed is tried again, whoever asks for it: after waits that grow with
 * each failure.
 */
export class RetryWaits {
  readonly #clock: Clock;
  #failures = 0;
  #successSinceMs: number | null = null;
  /** The monotonic time of the next start. */
  #dueMs = 0;
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether another try is to come. */
  get isSet(): boolean {
    return this.#timer !== null;
  }

  succeeded(): void {
    this.#successSinceMs = this.#clock.monotonic();
  }

  failed(): void {
    const nowMs = this.#clock.monotonic();
    const wasSteady = this.#successSinceMs !== null && nowMs - this.#successSinceMs >= STEADY_MS;
    this.#successSinceMs = null;
    this.#failures = wasSteady ? 1 : this.#failures + 1;
    this.#dueMs = nowMs + Math.min(WAIT_MS_MIN * 2 ** (this.#failures - 1), WAIT_MS_MAX);
  }

  /** Calls back when the wait is over, which may be at once. */
  whenDue(retry: () => void): void {
    if (this.isSet) return;
    const ms = this.#dueMs - this.#clock.monotonic();
    if (ms <= 0) retry();
    else this.#timer = this.#clock.setTimer(retry, ms);
  }

  /** Nothing is called back any more. The wait goes on. */
  clear(): void {
    this.#timer?.clear();
    this.#timer = null;
  }

  /** The next try need not wait. */
  skip(): void {
    this.#dueMs = 0;
  }
}
