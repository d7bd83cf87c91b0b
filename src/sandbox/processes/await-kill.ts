import { type Clock, sleep } from '../../base/clock.ts';

/** The longest time to wait for a killed process to end. */
const KILL_MS_MAX = 5_000;

/**
 * Resolves when the kill is done, or after KILL_MS_MAX: a process that hangs in the kernel must not
 * block its caller.
 */
export async function awaitKill(killing: Promise<unknown>, clock: Clock): Promise<void> {
  const over = new AbortController();
  await Promise.race([killing, sleep(clock, KILL_MS_MAX, over.signal)]);
  over.abort();
}
