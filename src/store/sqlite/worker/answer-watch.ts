import { type Clock, systemClock, type Timer } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';

/**
 * After this time without a message, the worker is asked for one; after twice this time, it is
 * silent.
 */
const QUIET_MS_MAX = 10_000;
const LOOK_MS = 5_000;

export interface AnswerWatchDeps {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  /** Makes a call that the worker answers at once, whatever it waits for. */
  ping: () => void;
  onSilent: (seconds: number) => void;
  /**
   * The worker that was silent answers again, or the one after it does. `seconds`: since it was
   * last heard.
   */
  onBack: (seconds: number) => void;
}

/**
 * Notices that a worker with calls hangs: the system does not return from what it does, as with a
 * disk that does not respond. A worker that waits for a lock, or has much to do in small parts,
 * does not hang.
 */
export class AnswerWatch {
  readonly #deps: AnswerWatchDeps;
  #timer: Timer | null = null;
  #heardAtMs = 0;
  #isAsked = false;
  /**
   * When it was last heard before it was told to be silent. Null: it is not silent. A next worker
   * is silent too until it is heard.
   */
  #silentSinceMs: number | null = null;

  constructor(deps: AnswerWatchDeps) {
    this.#deps = deps;
  }

  /** The worker has calls. */
  expect(): void {
    if (this.#timer !== null) return;
    this.#heardAtMs = this.#deps.clock.monotonic();
    this.#look();
  }

  /** The worker has sent a message. */
  heard(): void {
    if (this.#silentSinceMs !== null) this.#deps.onBack(this.#secondsSince(this.#silentSinceMs));
    this.#heardAtMs = this.#deps.clock.monotonic();
    this.#isAsked = false;
    this.#silentSinceMs = null;
  }

  /** The worker has no calls, or has ended. */
  rest(): void {
    this.#timer?.clear();
    this.#timer = null;
    this.#isAsked = false;
  }

  #secondsSince(ms: number): number {
    return Math.round((this.#deps.clock.monotonic() - ms) / 1000);
  }

  #look(): void {
    this.#timer = this.#deps.clock.setTimer(() => {
      const quietMs = this.#deps.clock.monotonic() - this.#heardAtMs;
      if (quietMs >= QUIET_MS_MAX && !this.#isAsked) {
        this.#isAsked = true;
        this.#deps.ping();
      } else if (quietMs >= 2 * QUIET_MS_MAX && this.#silentSinceMs === null) {
        this.#silentSinceMs = this.#heardAtMs;
        this.#deps.onSilent(this.#secondsSince(this.#heardAtMs));
      }
      this.#look();
    }, LOOK_MS);
  }
}

/** Notices that the worker of a store hangs, and tells the log and the user. */
export function watchStore(
  store: {
    file: string;
    log: Log;
    waitClock?: Clock;
    onSilent?: (message: string) => void;
  },
  ping: () => void,
): AnswerWatch {
  const { file, log, waitClock = systemClock, onSilent } = store;
  const tell = (level: 'error' | 'info', text: string) => {
    log[level]({ file }, text);
    onSilent?.(text);
  };
  return new AnswerWatch({
    clock: waitClock,
    ping,
    onSilent: (seconds) => tell('error', silent(file, seconds)),
    onBack: (seconds) =>
      tell('info', `${file} could not be used for ${seconds} s. It can be used again.`),
  });
}

function silent(file: string, seconds: number): string {
  return `${file} has not answered for ${seconds} s: threads wait for it. Check whether its disk or network file system responds. If it does and this does not end, restart heddle.`;
}
