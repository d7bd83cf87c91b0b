import type { Clock, Timer } from './clock.ts';

interface Running {
  callback: () => void;
  leftMs: number;
  /** When the timer was set, on the monotonic clock. */
  sinceMs: number;
  /** Null: it is paused. */
  timer: Timer | null;
}

/**
 * Timers that can be paused together. While they are paused, their time does not pass. Others can
 * be built on them.
 */
export class PausableTimers implements Pick<Clock, 'setTimer' | 'monotonic'> {
  readonly #clock: Pick<Clock, 'setTimer' | 'monotonic'>;
  readonly #running = new Set<Running>();
  /** When they were paused. Null: they run. */
  #pausedAtMs: number | null = null;
  #pausedMs = 0;

  constructor(clock: Pick<Clock, 'setTimer' | 'monotonic'>) {
    this.#clock = clock;
  }

  setTimer(callback: () => void, ms: number): Timer {
    const running: Running = { callback, leftMs: ms, sinceMs: 0, timer: null };
    this.#running.add(running);
    if (this.#pausedAtMs === null) this.#start(running);
    return {
      clear: () => {
        running.timer?.clear();
        this.#running.delete(running);
      },
    };
  }

  /** Their own time, in milliseconds: it does not pass while they are paused. */
  monotonic(): number {
    return (this.#pausedAtMs ?? this.#clock.monotonic()) - this.#pausedMs;
  }

  pause(): void {
    if (this.#pausedAtMs !== null) return;
    this.#pausedAtMs = this.#clock.monotonic();
    for (const running of this.#running) {
      running.timer?.clear();
      running.timer = null;
      running.leftMs = Math.max(0, running.leftMs - (this.#clock.monotonic() - running.sinceMs));
    }
  }

  resume(): void {
    if (this.#pausedAtMs === null) return;
    this.#pausedMs += this.#clock.monotonic() - this.#pausedAtMs;
    this.#pausedAtMs = null;
    for (const running of this.#running) this.#start(running);
  }

  #start(running: Running): void {
    running.sinceMs = this.#clock.monotonic();
    running.timer = this.#clock.setTimer(() => {
      this.#running.delete(running);
      running.callback();
    }, running.leftMs);
  }
}
