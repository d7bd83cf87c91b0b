import type { Log } from '../base/log.ts';

/** Removes the guards that killed servers have left, as listed in a folder. Never rejects. */
export async function sweepAtStart(guardLists: string | null, log: Log): Promise<void> {
  if (guardLists === null) return;
  try {
    const { sweepGuards } = await import('./places/sweep-guards.ts');
    const removed = await sweepGuards(guardLists);
    if (removed > 0) log.info({ removed }, 'removed guards that killed servers had left');
  } catch (error) {
    log.info({ err: error }, 'the guards that killed servers have left could not be removed');
  }
}
