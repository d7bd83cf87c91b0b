import type { Clock, Timer } from './clock.ts';

interface Running {
  callback: () => void;
  leftMs: number;
  /** When the timer was set, on the monotonic clock. */
  sinceMs: number;
  /** Null: it is paused. */
  timer: Timer | null;
}

/** Timers that can be paused together. While they are paused, their time does not pass. */
export class PausableTimers implements Pick<Clock, 'setTimer'> {
  readonly #clock: Clock;
  readonly #running = new Set<Running>();
  #isPaused = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  setTimer(callback: () => void, ms: number): Timer {
    const running: Running = { callback, leftMs: ms, sinceMs: 0, timer: null };
    this.#running.add(running);
    if (!this.#isPaused) this.#start(running);
    return {
      clear: () => {
        running.timer?.clear();
        this.#running.delete(running);
      },
    };
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    for (const running of this.#running) {
      running.timer?.clear();
      running.timer = null;
      running.leftMs = Math.max(0, running.leftMs - (this.#clock.monotonic() - running.sinceMs));
    }
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
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
