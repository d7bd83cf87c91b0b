import { hrtime } from 'node:process';

/**
 * The server's time. Tests have clocks of their own, so that no test waits and all times are known.
 */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. */
  monotonic(): number;
  /**
   * Calls back once after `ms`. The caller owns the timer and clears it. The timer does not keep
   * the process alive.
   */
  setTimer(callback: () => void, ms: number): Timer;
}

export interface Timer {
  clear(): void;
}

/**
 * Milliseconds of the system's monotonic clock. Use it in place of `performance`, whose module
 * takes a millisecond of the start.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicMs,
  setTimer(callback, ms) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return { clear: () => clearTimeout(timer) };
  },
};

/** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
export function sleep(
  clock: Pick<Clock, 'setTimer'>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      timer.clear();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** A signal that aborts after a time, unless it is cleared before. */
export interface Deadline {
  signal: AbortSignal;
  clear(): void;
}

export function deadlineIn(ms: number, clock: Pick<Clock, 'setTimer'>): Deadline {
  const over = new AbortController();
  const timer = clock.setTimer(() => over.abort(), ms);
  return { signal: over.signal, clear: () => timer.clear() };
}
