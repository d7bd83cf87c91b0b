import type { Clock, Timer } from '../base/clock.ts';
import { RetryWaits } from './retry-waits.ts';

/** Work that is done when it is asked for, but not too often. */
export interface Paced {
  ask(): void;
  /** Work that waits is not done. */
  clear(): void;
}

/**
 * Work that runs one at a time and begins at most once in `everyMs`. Asked for meanwhile, it runs
 * once more as soon as it may. If it resolves with false, it has failed, and is tried again after
 * waits that grow with each failure. It must not reject.
 */
export function paced(
  work: () => Promise<boolean>,
  { everyMs, clock }: { everyMs: number; clock: Clock },
): Paced {
  let begunMs = Number.NEGATIVE_INFINITY;
  let isBusy = false;
  let isWanted = false;
  let timer: Timer | null = null;
  const retries = new RetryWaits(clock);
  const ask = () => {
    isWanted = true;
    if (isBusy || timer !== null) return;
    const waitMs = begunMs + everyMs - clock.monotonic();
    if (waitMs <= 0) void run();
    else timer = clock.setTimer(() => void run(), waitMs);
  };
  const run = async () => {
    clear();
    isBusy = true;
    begunMs = clock.monotonic();
    const isDone = await work();
    isBusy = false;
    if (isDone) retries.succeeded();
    else retries.failed();
    if (isWanted) ask();
    else if (!isDone) retries.whenDue(ask);
  };
  const clear = () => {
    timer?.clear();
    timer = null;
    retries.clear();
    isWanted = false;
  };
  return { ask, clear };
}
