import type { ProcessEntry } from '../process-table.ts';
import {
  findTargets,
  type KillDeps,
  type KillTargets,
  processKey,
  signalIfThere,
} from './kill-processes.ts';

/** The processes of a command. */
interface SignalTargets extends KillTargets {
  /**
   * Whether other processes of the command confine it. These do not get the signal: their end would
   * end it before it can handle that.
   */
  isConfined: boolean;
}

interface Sending {
  targets: SignalTargets;
  deps: KillDeps;
}

/** The most searches for the processes of a session whose known ones have ended. */
const SEND_PASSES_MAX = 5;
/**
 * The pauses before looking for processes that have missed the signal. A process may take long to
 * begin on a busy machine.
 */
const REPEAT_AFTER_MS = [20, 50, 100, 200, 400, 800];

/** Sends a signal again to the processes that have missed it. Ends when `isOver` returns true. */
type Repeat = (isOver: () => boolean) => Promise<void>;

const NOTHING_TO_REPEAT: Repeat = async () => {};

/**
 * Sends a signal to all groups of the command's session, like a terminal whose user presses Ctrl-C.
 */
export async function signalCommand(
  signal: 'SIGINT' | 'SIGTERM',
  { targets, deps }: Sending,
): Promise<Repeat> {
  const sent = new Set<number>();
  let repeat: Repeat | null = null;
  for (let pass = 0; pass < SEND_PASSES_MAX; pass++) {
    const session = await sessionOf(targets, deps);
    const unsent = session.filter(({ group }) => !sent.has(group));
    if (unsent.length === 0) break;
    repeat ??= missed(signal, session, { targets, deps });
    for (const entry of unsent) {
      // A group gets the signal at once, with the processes that have started meanwhile. Its number
      // is in use while one of it is there.
      if (sent.has(entry.group) || !deps.table.isThere(entry)) continue;
      signalIfThere(entry, signal, deps, -entry.group);
      sent.add(entry.group);
    }
  }
  return repeat ?? NOTHING_TO_REPEAT;
}

/** Sends the signal of a terminal's key by `press`, which writes the key to the terminal. */
export async function pressKey(
  signal: 'SIGINT',
  press: () => void,
  { targets, deps }: Sending,
): Promise<Repeat> {
  try {
    return missed(signal, await sessionOf(targets, deps), { targets, deps });
  } finally {
    press();
  }
}

/**
 * To be called right before the signal is sent, with the processes of the session. Returns what
 * sends it to those that missed it: a shell handles signals also in the process that it forks for a
 * program, and loses those that come before the program is executed. Then the program goes on, and
 * the shell waits for it. A process that was executed before, or began after the signal, never gets
 * it again.
 */
function missed(
  signal: 'SIGINT' | 'SIGTERM',
  before: readonly ProcessEntry[],
  { targets, deps }: Sending,
): Repeat {
  const session = before[0]?.session;
  const images = new Map(before.map(({ pid, image }) => [pid, image]));
  const executed = new Set(
    before.filter(({ parent, image }) => image !== images.get(parent)).map(processKey),
  );
  const forked = new Map(before.map((entry) => [processKey(entry), entry.image]));
  const beganBefore = deps.table.untilNow();
  const hasMissed = (entry: ProcessEntry) =>
    entry.session === session &&
    !executed.has(processKey(entry)) &&
    beganBefore?.(entry) === true &&
    entry.image !== forked.get(processKey(entry)) &&
    (entry.foregroundGroup === null || entry.foregroundGroup === entry.group) &&
    entry.isEndedBy(signal);
  return async (isOver) => {
    if (beganBefore === null) return;
    for (const ms of REPEAT_AFTER_MS) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (isOver()) return;
      for (const entry of (await insideOf(targets, deps)).filter(hasMissed))
        signalIfThere(entry, signal, deps);
    }
  };
}

/** The processes in the session of the command's first process. */
async function sessionOf(targets: SignalTargets, deps: KillDeps): Promise<ProcessEntry[]> {
  const found = await insideOf(targets, deps);
  const pids = new Set(found.map(({ pid }) => pid));
  // The first process of the command was started by a process that is none of the command's.
  const first = found.filter(({ parent }) => !pids.has(parent)).sort(byStart)[0];
  return found.filter(({ session }) => session === first?.session);
}

async function insideOf(
  { isConfined, ...targets }: SignalTargets,
  { table }: KillDeps,
): Promise<ProcessEntry[]> {
  return (await findTargets(targets, new Map(), table)).filter(
    (entry) => !isConfined || isInside(entry),
  );
}

/**
 * Whether a process runs in a sandbox and is none of those that make it. The first process of a
 * process namespace makes it.
 */
function isInside({ confinedPid }: ProcessEntry): boolean {
  const pid = confinedPid();
  return pid !== null && pid !== 1;
}

function byStart(a: ProcessEntry, b: ProcessEntry): number {
  return Number(a.started) - Number(b.started) || a.pid - b.pid;
}
