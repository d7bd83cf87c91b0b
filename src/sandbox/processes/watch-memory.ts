import { setTimeout } from 'node:timers/promises';
import type { SendSignal } from './ending/kill-processes.ts';
import { runPs } from './process-table.ts';
import type { StartedProcess } from './started-process.ts';

const LOOK_MS = 100;
const KIB = 1024;

/**
 * Kills a process once it has more memory than this. Looks with `ps` now and then, for systems
 * whose kernel holds no such limit. Resolves when the process has ended. Never rejects.
 */
export async function watchMemory(
  { pid, exited }: Pick<StartedProcess, 'pid' | 'exited'>,
  bytesMax: number,
  { sendSignal }: { sendSignal: SendSignal },
): Promise<void> {
  let hasEnded = false;
  const ended = exited.then(() => {
    hasEnded = true;
  });
  for (;;) {
    await Promise.race([ended, setTimeout(LOOK_MS, undefined, { ref: false })]);
    if (hasEnded) return;
    const kib = Number((await runPs(['-o', 'rss=', '-p', String(pid)])).trim());
    if (hasEnded || kib * KIB <= bytesMax) continue;
    sendSignal(pid, 'SIGKILL');
    return ended;
  }
}
