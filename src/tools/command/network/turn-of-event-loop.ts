import { monotonicMs } from '../../../base/clock.ts';

/** The time that decisions about connections may take in one round of the event loop. */
const ROUND_MS_MAX = 5;

let last: Promise<void> = Promise.resolve();
/** When the first of this round began. */
let startedMs: number | null = null;

/**
 * Await this directly before the work for one of many connections that can come at once. Lets one
 * caller go on at a time, and the others wait for a later round of the event loop when this one has
 * taken long enough.
 */
export function turnOfEventLoop(): Promise<void> {
  // The caller's work comes before the next turn, because it has waited for this promise first.
  last = last.then(turn);
  return last;
}

function turn(): Promise<void> | undefined {
  const nowMs = monotonicMs();
  if (startedMs === null) {
    startedMs = nowMs;
    setImmediate(endRound);
  }
  return nowMs - startedMs < ROUND_MS_MAX
    ? undefined
    : new Promise((resolve) => setImmediate(resolve));
}

function endRound(): void {
  startedMs = null;
}
