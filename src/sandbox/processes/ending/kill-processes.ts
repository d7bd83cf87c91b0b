import { monotonicMs } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import type { ProcessEntry, ProcessTable } from '../process-table.ts';

export type SendSignal = (pid: number, signal: NodeJS.Signals) => void;

export interface KillDeps {
  table: ProcessTable;
  sendSignal: SendSignal;
  log: Log;
}

/** The processes to kill, together with all processes that they started. */
export interface KillTargets {
  /** Session leaders that have not been waited for, so that their pids are not reused. */
  leaders: ReadonlySet<number>;
  /** The numbers of their marks. */
  marks: ReadonlySet<number>;
}

/** The most searches for new processes while the known ones are stopped. */
const STOP_PASSES_MAX = 20;
/** How long to wait for processes to die. A process that writes to a hanging disk cannot die. */
const DEATH_MS_MAX = 5_000;
const DEATH_POLL_MS = [1, 2, 5, 10, 20, 50];

/**
 * Kills processes and all that they started. Finds them by mark, parent, session and group. Stops
 * them first, until no new one appears, so that none can start another during the kill. Resolves
 * when none is left, or after DEATH_MS_MAX. Processes that this user may not kill are left alone.
 * `more`: processes that are known already, though their leader may have ended.
 */
export async function killProcesses(
  targets: KillTargets,
  deps: KillDeps,
  more: readonly ProcessEntry[] = [],
): Promise<void> {
  const known = byKey(more);
  const stopped = new Set<string>();
  for (let pass = 0; pass < STOP_PASSES_MAX; pass++) {
    const fresh = (await findTargets(targets, known, deps.table)).filter(
      (entry) => !stopped.has(processKey(entry)),
    );
    if (fresh.length === 0) break;
    for (const entry of fresh) {
      known.set(processKey(entry), entry);
      stopped.add(processKey(entry));
      signalIfThere(entry, 'SIGSTOP', deps);
    }
  }
  // From now on a leader may have been waited for, so its pid may be reused.
  await untilDead({ ...targets, leaders: new Set() }, known, deps);
}

async function untilDead(
  targets: KillTargets,
  known: Map<string, ProcessEntry>,
  deps: KillDeps,
): Promise<void> {
  const untouchable = new Set<string>();
  const startedMs = monotonicMs();
  for (let pass = 0; ; pass++) {
    const left = (await findTargets(targets, known, deps.table)).filter(
      (entry) => !untouchable.has(processKey(entry)),
    );
    if (left.length === 0) return;
    for (const entry of left) {
      known.set(processKey(entry), entry);
      if (!signalIfThere(entry, 'SIGKILL', deps)) untouchable.add(processKey(entry));
    }
    if (monotonicMs() - startedMs > DEATH_MS_MAX) {
      deps.log.warn(
        { pids: left.map(({ pid }) => pid) },
        'processes are still alive after they were killed',
      );
      return;
    }
    await pauseAfterPass(pass);
  }
}

/** The pause after a look whether processes have ended. Each is longer than the one before. */
export async function pauseAfterPass(pass: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, DEATH_POLL_MS[pass] ?? DEATH_POLL_MS.at(-1)));
}

/** Lists the targets, the processes that are known already, and all that these started. */
export async function findTargets(
  { leaders, marks }: KillTargets,
  known: ReadonlyMap<string, ProcessEntry>,
  table: ProcessTable,
): Promise<ProcessEntry[]> {
  const entries = await table.list();
  const found = new Map<number, ProcessEntry>();
  for (const entry of entries) {
    const direct =
      known.has(processKey(entry)) ||
      leaders.has(entry.pid) ||
      leaders.has(entry.session) ||
      leaders.has(entry.group);
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

/**
 * Sends a signal to a process, or while that is there, to `pid`. Returns false if the system does
 * not permit it.
 */
export function signalIfThere(
  entry: ProcessEntry,
  signal: NodeJS.Signals,
  { table, sendSignal }: KillDeps,
  pid = entry.pid,
): boolean {
  if (!table.isThere(entry)) return true;
  try {
    sendSignal(pid, signal);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return true;
    if (systemErrorCode(error) === 'EPERM') return false;
    throw error;
  }
}

export function byKey(entries: readonly ProcessEntry[]): Map<string, ProcessEntry> {
  return new Map(entries.map((entry) => [processKey(entry), entry]));
}

/** Distinguishes a process from all others, before and after it. */
export function processKey({ pid, started }: ProcessEntry): string {
  return `${pid} ${started}`;
}
