import type { Clock } from '../base/clock.ts';
import { Semaphore } from '../base/semaphore.ts';

/** How long closing the server may take before its process exits anyway. */
export const CLOSE_MS_MAX = 5_000;
/**
 * The part of that time in which programs of the user may run at the ends of turns and threads. The
 * rest is for the server itself.
 */
export const CLOSING_PROGRAMS_MS_MAX = CLOSE_MS_MAX / 2;
/** How many threads that are closed run programs at a time. */
const CLOSING_MAX = 32;

/** The programs of the user that run at the ends of turns and threads. */
export class ClosingPrograms {
  /** The places for those of threads that are closed. */
  readonly places = new Semaphore(CLOSING_MAX);
  readonly #clock: Clock;
  readonly #over = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts when all of them must end, because the server does. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Closes the threads of the server: from now on, their programs have little time. */
  async endDuring(closing: Promise<void>): Promise<void> {
    const timer = this.#clock.setTimer(() => this.#over.abort(), CLOSING_PROGRAMS_MS_MAX);
    await closing.finally(() => timer.clear());
  }
}
