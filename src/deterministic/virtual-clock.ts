import type { Clock, Timer } from '../base/clock.ts';

/** 2026-01-01T00:00:00Z: the time at which every run begins. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

interface VirtualTimer {
  atMs: number;
  callback: () => void;
}

/** A clock that stands still until `advance` is called. */
export class VirtualClock implements Clock {
  #nowMs = EPOCH_MS;
  readonly #timers = new Set<VirtualTimer>();

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs - EPOCH_MS;
  }

  setTimer(callback: () => void, ms: number): Timer {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return { clear: () => this.#timers.delete(timer) };
  }

  /** Moves the time to the next timer and calls it back. Returns false if there is no timer. */
  advance(): boolean {
    const [next] = [...this.#timers]
      .filter(({ atMs }) => Number.isFinite(atMs))
      .sort((a, b) => a.atMs - b.atMs);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.callback();
    return true;
  }
}
