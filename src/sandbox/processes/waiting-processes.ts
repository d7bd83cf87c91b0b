import type { ProcessTable } from './process-table.ts';

/**
 * Returns null while the process, or one that it or they started, works, and if it has ended.
 * Otherwise returns their pids and start times.
 */
export async function waitingProcesses(
  leader: number,
  table: ProcessTable,
): Promise<string | null> {
  const entries = await table.list();
  const found = new Set(entries.filter(({ pid }) => pid === leader));
  const pids = new Set([leader]);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const entry of entries) {
      if (!pids.has(entry.parent)) continue;
      pids.add(entry.pid);
      found.add(entry);
    }
  }
  if (found.size === 0 || [...found].some((entry) => entry.works())) return null;
  return [...found].map(({ pid, started }) => `${pid} ${started}`).join(', ');
}
