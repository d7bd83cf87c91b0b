import type { Clock, Timer } from '../../../base/clock.ts';

/** After this time without a message, the thread is asked for one; after twice this time, it is silent. */
const QUIET_MS_MAX = 10_000;
const LOOK_MS = 5_000;

export interface AnswerWatchDeps {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  /** Makes a call that the thread answers at once, whatever it waits for. */
  ping: () => void;
  onSilent: (seconds: number) => void;
  /** The thread that was silent answers again. */
  onBack: (seconds: number) => void;
}

/**
 * Notices that a thread with calls hangs: the system does not return from what it does, as with a disk that does not respond. A thread
 * that waits for a lock, or has much to do in small parts, does not hang.
 */
export class AnswerWatch {
  readonly #deps: AnswerWatchDeps;
  #timer: Timer | null = null;
  #heardAtMs = 0;
  #isAsked = false;
  #isSilent = false;

  constructor(deps: AnswerWatchDeps) {
    this.#deps = deps;
  }

  /** The thread has calls. */
  expect(): void {
    if (this.#timer !== null) return;
    this.#heardAtMs = this.#deps.clock.monotonic();
    this.#look();
  }

  /** The thread has sent a message. */
  heard(): void {
    if (this.#isSilent) this.#deps.onBack(this.#quietSeconds);
    this.#heardAtMs = this.#deps.clock.monotonic();
    this.#isAsked = false;
    this.#isSilent = false;
  }

  /** The thread has no calls, or has ended. */
  rest(): void {
    this.#timer?.clear();
    this.#timer = null;
    this.#isAsked = false;
    this.#isSilent = false;
  }

  get #quietSeconds(): number {
    return Math.round((this.#deps.clock.monotonic() - this.#heardAtMs) / 1000);
  }

  #look(): void {
    this.#timer = this.#deps.clock.setTimer(() => {
      const quietMs = this.#deps.clock.monotonic() - this.#heardAtMs;
      if (quietMs >= QUIET_MS_MAX && !this.#isAsked) {
        this.#isAsked = true;
        this.#deps.ping();
      } else if (quietMs >= 2 * QUIET_MS_MAX && !this.#isSilent) {
        this.#isSilent = true;
        this.#deps.onSilent(this.#quietSeconds);
      }
      this.#look();
    }, LOOK_MS);
  }
}
