import { type Clock, sleep } from '../base/clock.ts';

/** Waits for the work, at most so long. Returns false if that was not enough. */
export async function atMost(clock: Clock, ms: number, work: Promise<void>): Promise<boolean> {
  const over = new AbortController();
  const done = await Promise.race([
    work.then(() => true),
    sleep(clock, ms, over.signal).then(() => false),
  ]);
  over.abort();
  return done;
}
