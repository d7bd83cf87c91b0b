import type { Clock, Timer } from '../base/clock.ts';

/** Work that is done when it is asked for, but not too often. */
export interface Paced {
  ask(): void;
  /** Work that waits is not done. */
  clear(): void;
}

/**
 * Work that runs one at a time and begins at most once in `everyMs`. Asked for meanwhile, it runs once more as soon as it may. It must not
 * reject.
 */
export function paced(work: () => Promise<void>, { everyMs, clock }: { everyMs: number; clock: Clock }): Paced {
  let begunMs = Number.NEGATIVE_INFINITY;
  let isBusy = false;
  let isWanted = false;
  let timer: Timer | null = null;
  const ask = () => {
    isWanted = true;
    if (isBusy || timer !== null) return;
    const waitMs = begunMs + everyMs - clock.monotonic();
    if (waitMs <= 0) void run();
    else timer = clock.setTimer(() => void run(), waitMs);
  };
  const run = async () => {
    timer = null;
    isWanted = false;
    isBusy = true;
    begunMs = clock.monotonic();
    await work();
    isBusy = false;
    if (isWanted) ask();
  };
  const clear = () => {
    timer?.clear();
    timer = null;
    isWanted = false;
  };
  return { ask, clear };
}
