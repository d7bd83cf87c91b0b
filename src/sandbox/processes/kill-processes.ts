import type { Log } from '../../base/log.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

export type SendSignal = (pid: number, signal: NodeJS.Signals) => void;

export interface KillDeps {
  table: ProcessTable;
  sendSignal: SendSignal;
  log: Log;
}

/** What is to be killed, with all that it started. */
export interface KillTargets {
  /** Processes that lead their session and that have not been waited for, so that their numbers are still theirs. */
  leaders: ReadonlySet<number>;
  /** The numbers of the marks. */
  marks: ReadonlySet<number>;
}

/** How often new processes are looked for, while the known ones are stopped. */
const STOP_PASSES_MAX = 20;
/** How long the dying may take: one that writes to a disk which hangs cannot die. */
const DEATH_MS_MAX = 5_000;
const DEATH_POLL_MS = [1, 2, 5, 10, 20, 50];

/**
 * Kills processes and all that they started: by mark, parent, session and group. First all are stopped, until no further
 * one turns up, so that none can start another while they are killed. Resolves when none is left; those that the system does
 * not let this one kill are left alone.
 */
export async function killProcesses(targets: KillTargets, deps: KillDeps): Promise<void> {
  const known = new Map<string, ProcessEntry>();
  for (let pass = 0; pass < STOP_PASSES_MAX; pass++) {
    const fresh = (await findTargets(targets, known, deps.table)).filter((entry) => !known.has(key(entry)));
    if (fresh.length === 0) break;
    for (const entry of fresh) {
      known.set(key(entry), entry);
      signalIfThere(entry, 'SIGSTOP', deps);
    }
  }
  // By now a leader may be waited for, and its number another's.
  await untilDead({ ...targets, leaders: new Set() }, known, deps);
}

async function untilDead(targets: KillTargets, known: Map<string, ProcessEntry>, deps: KillDeps): Promise<void> {
  const untouchable = new Set<string>();
  const startedMs = performance.now();
  for (let pass = 0; ; pass++) {
    const left = (await findTargets(targets, known, deps.table)).filter((entry) => !untouchable.has(key(entry)));
    if (left.length === 0) return;
    for (const entry of left) {
      known.set(key(entry), entry);
      if (!signalIfThere(entry, 'SIGKILL', deps)) untouchable.add(key(entry));
    }
    if (performance.now() - startedMs > DEATH_MS_MAX) {
      deps.log.warn({ pids: left.map(({ pid }) => pid) }, 'processes do not die');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, DEATH_POLL_MS[pass] ?? DEATH_POLL_MS.at(-1)));
  }
}

async function findTargets(
  { leaders, marks }: KillTargets,
  known: ReadonlyMap<string, ProcessEntry>,
  table: ProcessTable,
): Promise<ProcessEntry[]> {
  const entries = await table.list();
  const found = new Map<number, ProcessEntry>();
  for (const entry of entries) {
    const direct = known.has(key(entry)) || leaders.has(entry.pid) || leaders.has(entry.session) || leaders.has(entry.group);
    if (direct) found.set(entry.pid, entry);
    else {
      const mark = entry.mark();
      if (mark !== null && marks.has(mark)) found.set(entry.pid, entry);
    }
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const entry of entries) if (found.has(entry.parent)) found.set(entry.pid, entry);
  }
  return [...found.values()];
}

/** False where the process is another user's. */
function signalIfThere(entry: ProcessEntry, signal: NodeJS.Signals, { table, sendSignal }: KillDeps): boolean {
  if (!table.isThere(entry)) return true;
  try {
    sendSignal(entry.pid, signal);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return true;
    if (systemErrorCode(error) === 'EPERM') return false;
    throw error;
  }
}

function key({ pid, started }: ProcessEntry): string {
  return `${pid} ${started}`;
}
