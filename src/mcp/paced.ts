import type { Clock } from '../base/clock.ts';

/**
 * Returns a function that asks for work, which runs one at a time and begins at most once in `everyMs`. Asked for meanwhile, it runs once
 * more as soon as it may. The work must not reject.
 */
export function paced(work: () => Promise<void>, { everyMs, clock }: { everyMs: number; clock: Clock }): () => void {
  let begunMs = Number.NEGATIVE_INFINITY;
  let isBusy = false;
  let isWanted = false;
  const ask = () => {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    const waitMs = begunMs + everyMs - clock.monotonic();
    if (waitMs <= 0) void run();
    else clock.setTimer(() => void run(), waitMs);
  };
  const run = async () => {
    isWanted = false;
    begunMs = clock.monotonic();
    await work();
    isBusy = false;
    if (isWanted) ask();
  };
  return ask;
}
