import type { Clock } from '../../base/clock.ts';
import type { SpentRetries } from '../model.ts';
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
  /**
   * Whether clients get no notification. They need none, because nothing that they have seen
   * becomes void.
   */
  silent: boolean;
  /** With this retry. */
  spent: SpentRetries;
}

interface RetryLimits {
  requestMaxRetries: number;
  streamMaxRetries: number;
}

/**
 * Plans the retries of one request. If the stream broke, a retry counts against `streamMaxRetries`.
 * If it did not begin, retries count against `requestMaxRetries` first, and then against
 * `streamMaxRetries`. Retries that count against `requestMaxRetries` are silent, unless the
 * provider could not be reached. Each wait is twice as long as the one before.
 */
export class RetryPlan {
  readonly #clock: Clock;
  readonly #limits: RetryLimits;
  #spent: SpentRetries;
  #firstFailureAt: number | null;

  /** `spent`: by requests that the request continues. */
  constructor(limits: RetryLimits, clock: Clock, spent: SpentRetries | null = null) {
    this.#clock = clock;
    this.#limits = limits;
    this.#spent = spent ?? { ofRequest: 0, ofStream: 0, nextWaitMs: FIRST_WAIT_MS, retryingMs: 0 };
    this.#firstFailureAt = spent === null ? null : clock.monotonic() - spent.retryingMs;
  }

  /** Returns the next retry; null if there is none and the failure is final. */
  next(failure: ModelFailure): Retry | null {
    const now = this.#clock.monotonic();
    const { requestMaxRetries, streamMaxRetries } = this.#limits;
    this.#firstFailureAt ??= now;
    if (!PASSING.has(failure.retry)) return null;
    const { ofRequest, ofStream, nextWaitMs } = this.#spent;
    const delayMs = Math.max(nextWaitMs, failure.waitMs ?? 0);
    const retryingMs = now + delayMs - this.#firstFailureAt;
    if (delayMs > RETRY_WAIT_MS_MAX || retryingMs > RETRYING_MS_MAX) return null;

    const beforeStream = failure.retry !== 'stream' && ofRequest < requestMaxRetries;
    if (!beforeStream && ofStream >= streamMaxRetries) return null;
    this.#spent = {
      ofRequest: ofRequest + (beforeStream ? 1 : 0),
      ofStream: ofStream + (beforeStream ? 0 : 1),
      nextWaitMs: Math.min(nextWaitMs * 2, RETRY_WAIT_MS_MAX),
      retryingMs,
    };
    return {
      number: ofRequest + ofStream + 1,
      ofAtMost: requestMaxRetries + streamMaxRetries,
      delayMs,
      silent: beforeStream && failure.retry === 'request',
      spent: this.#spent,
    };
  }
}
