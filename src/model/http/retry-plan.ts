import type { Clock } from '../../base/clock.ts';
import type { ModelFailure } from '../model-failure.ts';

/** The longest wait before a retry. If a provider asks for a longer wait, the request fails. */
export const RETRY_WAIT_MS_MAX = 60_000;
/** No retry starts later than this after the first failure. */
export const RETRYING_MS_MAX = 10 * 60_000;
const FIRST_WAIT_MS = 200;
/** The failures after which the same request can succeed. */
const PASSING = new Set<ModelFailure['retry']>(['connection', 'request', 'stream']);

export interface Retry {
  /** Counts from 1; silent retries count too. */
  number: number;
  ofAtMost: number;
  delayMs: number;
  /** Whether clients get no notification. They need none, because nothing that they have seen becomes void. */
  silent: boolean;
}

/**
 * Plans the retries of one request. If the stream broke, a retry counts against `streamMaxRetries`. If it did not begin, retries
 * count against `requestMaxRetries` first, and then against `streamMaxRetries`. Retries that count against `requestMaxRetries`
 * are silent, unless the provider could not be reached. Each wait is twice as long as the one before.
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

  /** Returns the next retry; null if there is none and the failure is final. */
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
