import { monotonicMs } from '../../../base/clock.ts';
import type { ProcessEntry } from '../process-table.ts';
import {
  byKey,
  findTargets,
  type KillDeps,
  type KillTargets,
  pauseAfterPass,
  signalIfThere,
} from './kill-processes.ts';

/**
 * Interactive shells ignore SIGTERM. A script that handles it must not be ended by SIGHUP before it
 * has done so.
 */
const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;
/**
 * How long to wait after each signal. Ordinary programs remove their temporary files and locks in a
 * few milliseconds.
 */
const GRACE_MS = 300;

/**
 * Asks processes to end. Resolves when none is left, or after GRACE_MS for each signal, with those
 * that are left. A program that is killed at once leaves its locks behind, which block the next
 * one: `.git/index.lock`, or the lock of a version manager, for which every new shell of the user
 * then waits.
 */
export async function askToEnd(targets: KillTargets, deps: KillDeps): Promise<ProcessEntry[]> {
  let asked = await findTargets(targets, new Map(), deps.table);
  // From now on a leader may have been waited for, so its pid may be reused.
  const started = { ...targets, leaders: new Set<number>() };
  for (const signal of SIGNALS) {
    for (const entry of asked) signalIfThere(entry, signal, deps);
    const sentMs = monotonicMs();
    for (let pass = 0; asked.length > 0 && monotonicMs() - sentMs < GRACE_MS; pass++) {
      await pauseAfterPass(pass);
      asked = await findTargets(started, byKey(asked), deps.table);
    }
  }
  return asked;
}
