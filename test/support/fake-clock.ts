import type { Clock, Timer } from '../../src/base/clock.ts';

interface Pending {
  dueAt: number;
  ms: number;
  callback: () => void;
}

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #now: number;
  readonly #startedAt: number;
  #wallOffsetMs = 0;
  readonly #timers = new Set<Pending>();
  readonly #watchers = new Set<{ ms: number | null; resolve: () => void }>();
  readonly #idleWatchers: (() => void)[] = [];

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
    this.#startedAt = now;
  }

  /**
   * How long the timers that are set now were set for, in milliseconds, in the order of their
   * setting.
   */
  get timers(): number[] {
    return [...this.#timers].map(({ ms }) => ms);
  }

  now(): number {
    return this.#now + this.#wallOffsetMs;
  }

  /**
   * Sets the wall clock forward, or back by a negative number, as a person or NTP does. The
   * monotonic clock and the timers stay.
   */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  setTimer(callback: () => void, ms: number): Timer {
    const timer = { dueAt: this.#now + ms, ms, callback };
    this.#timers.add(timer);
    for (const watcher of this.#watchers) {
      if (watcher.ms !== null && watcher.ms !== ms) continue;
      this.#watchers.delete(watcher);
      watcher.resolve();
    }
    return { clear: () => this.#delete(timer) };
  }

  /** Resolves when a timer of exactly `ms` is set, or at once if there is one. */
  timerOf(ms: number): Promise<void> {
    if (this.timers.includes(ms)) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.add({ ms, resolve }));
  }

  /** Resolves when the next timer is set. */
  nextTimer(): Promise<void> {
    return new Promise((resolve) => this.#watchers.add({ ms: null, resolve }));
  }

  /** Resolves when no timer is set, or at once if none is. */
  idle(): Promise<void> {
    if (this.#timers.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWatchers.push(resolve));
  }

  /** Advances the time and calls back the timers that are due, in their order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers]
        .filter(({ dueAt }) => dueAt <= end)
        .sort((one, other) => one.dueAt - other.dueAt)[0];
      if (next === undefined) break;
      this.#delete(next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.callback();
    }
    this.#now = end;
  }

  #delete(timer: Pending): void {
    this.#timers.delete(timer);
    if (this.#timers.size > 0) return;
    for (const resolve of this.#idleWatchers.splice(0)) resolve();
  }
}
