import type { Clock } from '../../base/clock.ts';
import type { ModelFailure } from '../model-failure.ts';

/** The longest that is waited before a retry; a provider that asks for more has failed. */
export const RETRY_WAIT_MS_MAX = 60_000;
/** No retry starts later than this after the first failure. */
export const RETRYING_MS_MAX = 10 * 60_000;
const FIRST_WAIT_MS = 200;
/** The failures after which the same request can succeed. */
const PASSING = new Set<ModelFailure['retry']>(['connection', 'request', 'stream']);

export interface Retry {
  /** From 1 on, silent ones counted too. */
  number: number;
  ofAtMost: number;
  delayMs: number;
  /** Whether the client need not know: nothing was shown to it that is now void. */
  silent: boolean;
}

/**
 * Decides on the retries of one question. A broken stream uses up the stream's retries. What failed before a stream
 * began first uses the request's retries, silently unless nobody was reached, then the stream's. Waits double.
 */
export class RetryPlan {
  readonly #clock: Clock;
  #requestRetriesLeft: number;
  #streamRetriesLeft: number;
  readonly #ofAtMost: number;
  #number = 0;
  #waitMs = FIRST_WAIT_MS;
  #firstFailureAt: number | null = null;

  constructor(limits: { requestMaxRetries: number; streamMaxRetries: number }, clock: Clock) {
    this.#clock = clock;
    this.#requestRetriesLeft = limits.requestMaxRetries;
    this.#streamRetriesLeft = limits.streamMaxRetries;
    this.#ofAtMost = limits.requestMaxRetries + limits.streamMaxRetries;
  }

  /** The next retry; null: there is none, and the failure is the last word. */
  next(failure: ModelFailure): Retry | null {
    const now = this.#clock.monotonic();
    this.#firstFailureAt ??= now;
    if (!PASSING.has(failure.retry)) return null;
    const delayMs = Math.max(this.#waitMs, failure.waitMs ?? 0);
    if (delayMs > RETRY_WAIT_MS_MAX || now + delayMs - this.#firstFailureAt > RETRYING_MS_MAX) return null;

    const beforeStream = failure.retry !== 'stream' && this.#requestRetriesLeft > 0;
    if (beforeStream) this.#requestRetriesLeft -= 1;
    else if (this.#streamRetriesLeft > 0) this.#streamRetriesLeft -= 1;
    else return null;
    this.#waitMs = Math.min(this.#waitMs * 2, RETRY_WAIT_MS_MAX);
    this.#number += 1;
    return { number: this.#number, ofAtMost: this.#ofAtMost, delayMs, silent: beforeStream && failure.retry === 'request' };
  }
}
