import { isDeepStrictEqual } from 'node:util';
import type { RateLimitSnapshot } from '../protocol/generated/types.ts';

/** The rate limits that providers have told last. */
export class RateLimits {
  readonly #onChange: (limits: RateLimitSnapshot) => void;
  #latest: RateLimitSnapshot | null = null;

  /** `onChange` is called when a response tells other limits than the one before. */
  constructor(onChange: (limits: RateLimitSnapshot) => void) {
    this.#onChange = onChange;
  }

  /** Null: no provider has told any. */
  get latest(): RateLimitSnapshot | null {
    return this.#latest;
  }

  note(limits: RateLimitSnapshot): void {
    if (isDeepStrictEqual(limits, this.#latest)) return;
    this.#latest = limits;
    this.#onChange(limits);
  }
}
