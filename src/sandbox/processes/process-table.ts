import { constants } from 'node:os';
import { namesInProc, type ProcPath, readProc } from '../../base/files/read-proc.ts';
import { unlessUnseen } from '../../base/paths/stat-of.ts';
import { runToEnd } from '../../base/processes/spawn-program.ts';
import type { ProcessMarks } from './process-mark.ts';

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** On other systems than Linux, the group. */
  session: number;
  /** The start time. It distinguishes the process from a later one with the same pid. */
  started: string;
  /** Returns the number of its mark, or null if it has none. */
  mark(): number | null;
  /** Its pid in a process namespace below that of this process. Null: it is in none. */
  confinedPid(): number | null;
  /** Whether it runs, is ready to run, or waits for a disk. */
  works(): boolean;
  /**
   * Changes when it executes another program. A process has that of its parent until it does so.
   * Empty: unknown.
   */
  image: string;
  /** The group in the foreground of its terminal. Null: it has no terminal, or that is unknown. */
  foregroundGroup: number | null;
  /**
   * Whether a signal ends it now: it neither handles, ignores nor blocks the signal. False if that
   * is unknown.
   */
  isEndedBy(signal: NodeJS.Signals): boolean;
}

/** The processes of this machine. */
export interface ProcessTable {
  /**
   * Lists the running processes, without zombies, this process, and processes that started before
   * it.
   */
  list(): Promise<ProcessEntry[]>;
  /** Whether the process is still running. */
  isThere(entry: ProcessEntry): boolean;
  /**
   * Returns a function that says whether a process began before this call. Null: that is unknown on
   * this system.
   */
  untilNow(): ((entry: ProcessEntry) => boolean) | null;
}

/** The number of processes to read before yielding to other work. */
const AT_ONCE = 50;

export function createProcessTable(platform: NodeJS.Platform, marks: ProcessMarks): ProcessTable {
  return shared(platform === 'linux' ? linuxTable(marks) : portableTable(marks));
}

/**
 * Callers at the same time get the same list, which was started after their calls, because many
 * kills often happen at once.
 */
function shared(table: ProcessTable): ProcessTable {
  let current: Promise<ProcessEntry[]> | null = null;
  let next: Promise<ProcessEntry[]> | null = null;
  const begin = () => {
    next = null;
    current = table.list().finally(() => {
      current = null;
    });
    return current;
  };
  return {
    list() {
      if (current === null) return begin();
      next ??= current.then(begin, begin);
      return next;
    },
    isThere: (entry) => table.isThere(entry),
    untilNow: () => table.untilNow(),
  };
}

interface LinuxStat {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  /** -1 without a terminal. */
  foregroundGroup: number;
  startTicks: number;
  image: string;
}

function linuxTable(marks: ProcessMarks): ProcessTable {
  const self = readStat('self');
  return {
    async list() {
      const entries: ProcessEntry[] = [];
      const pids = namesInProc('/proc').filter((name) => /^\d+$/.test(name));
      for (const [index, pid] of pids.entries()) {
        if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
        const stat = readStat(pid);
        if (
          stat === null ||
          isOver(stat) ||
          stat.pid === self?.pid ||
          stat.startTicks < (self?.startTicks ?? 0)
        )
          continue;
        const { parent, group, session, startTicks, image } = stat;
        const foregroundGroup = stat.foregroundGroup === -1 ? null : stat.foregroundGroup;
        let mark: number | null | undefined;
        const markOnce = () => {
          if (mark === undefined) mark = linuxMark(marks, pid);
          return mark;
        };
        const works = () => anyThreadWorks(pid);
        const confinedPid = () => linuxConfinedPid(pid);
        const isEndedBy = (signal: NodeJS.Signals) => linuxIsEndedBy(pid, signal);
        const ids = {
          pid: stat.pid,
          parent,
          group,
          session,
          foregroundGroup,
          started: String(startTicks),
          image,
        };
        entries.push({ ...ids, mark: markOnce, confinedPid, works, isEndedBy });
      }
      return entries;
    },
    isThere({ pid, started }) {
      const stat = readStat(String(pid));
      return stat !== null && !isOver(stat) && String(stat.startTicks) === started;
    },
    untilNow: linuxUntilNow,
  };
}

/**
 * The kernel numbers processes one after the other. After the highest number it begins again, but
 * start times tell these apart.
 */
function linuxUntilNow(): ((entry: ProcessEntry) => boolean) | null {
  const newest = Number(textIn('/proc/loadavg').trim().split(' ').at(-1));
  const ticks = uptimeTicks(textIn('/proc/uptime'));
  if (!Number.isInteger(newest) || !Number.isInteger(ticks)) return null;
  return ({ pid, started }) =>
    Number(started) < ticks || (Number(started) === ticks && pid <= newest);
}

/**
 * The ticks since the system started, by the text of `/proc/uptime`, which has hundredths of a
 * second. NaN if it is another text.
 */
export function uptimeTicks(text: string): number {
  // A product such as 1.15 * 100 is a little less than the whole number.
  return Math.round(Number(text.split(' ')[0]) * TICKS_PER_SECOND);
}

/** Of start times, on all architectures. */
const TICKS_PER_SECOND = 100;

/** Running, or waiting for a disk. */
const WORKING = /^[RDU]/;

function anyThreadWorks(pid: string): boolean {
  const threads = unlessUnseen(() => namesInProc(`/proc/${pid}/task`)) ?? [];
  return threads.some((thread) => {
    const stat = readStat(`${pid}/task/${thread}`);
    return stat !== null && WORKING.test(stat.state);
  });
}

function isOver({ state }: LinuxStat): boolean {
  return state === 'Z' || state === 'X';
}

/** Returns null if there is no such process. */
function readStat(pid: string): LinuxStat | null {
  const text = textIn(`/proc/${pid}/stat`);
  // The program's name is in parentheses and may contain any character.
  const [state = '', ...numbers] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, group, session] = numbers.map(Number);
  if (parent === undefined || group === undefined || session === undefined) return null;
  // The addresses of its code and its stack, which differ in each program that is executed. They
  // are 0 if they may not be read.
  const image = numbers[24] === '0' ? '' : `${numbers[22]} ${numbers[24]}`;
  const foregroundGroup = Number(numbers[4]);
  return {
    pid: Number.parseInt(text, 10),
    state,
    parent,
    group,
    session,
    foregroundGroup,
    startTicks: Number(numbers[18]),
    image,
  };
}

function linuxIsEndedBy(pid: string, signal: NodeJS.Signals): boolean {
  const masks = textIn(`/proc/${pid}/status`).matchAll(/^Sig(?:Blk|Ign|Cgt):\s*([0-9a-f]+)$/gm);
  const bit = 1n << BigInt(constants.signals[signal] - 1);
  const found = [...masks].map(([, mask]) => BigInt(`0x${mask}`));
  return found.length > 0 && found.every((mask) => (mask & bit) === 0n);
}

function linuxMark(marks: ProcessMarks, pid: string): number | null {
  return (
    marks.inEnvironment(textIn(`/proc/${pid}/environ`)) ??
    marks.inLimits(textIn(`/proc/${pid}/limits`))
  );
}

function linuxConfinedPid(pid: string): number | null {
  // It lists the pids from the namespace of /proc inwards.
  const [, ...inner] = (/^NSpid:\s*(.*)$/m.exec(textIn(`/proc/${pid}/status`))?.[1] ?? '').split(
    /\s+/,
  );
  return inner.length === 0 ? null : Number(inner.at(-1));
}

/** Returns an empty string if the process has ended or may not be read. */
function textIn(path: ProcPath): string {
  return readProc(path, 'latin1') ?? '';
}

/** Uses `ps`, which shows the environment of the user's own processes. */
function portableTable(marks: ProcessMarks): ProcessTable {
  const columns = ['pid=', 'ppid=', 'pgid=', 'stat=', 'lstart=', 'command='].flatMap((column) => [
    '-o',
    column,
  ]);
  return {
    async list() {
      const lines = (await runPs(['-A', '-E', '-ww', ...columns])).split('\n');
      return lines.flatMap((line) => {
        const [, pid, parent, group, state = '', started = '', command = ''] =
          /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/.exec(
            line,
          ) ?? [];
        if (pid === undefined || state.startsWith('Z') || command.startsWith('ps -A -E')) return [];
        const ids = {
          pid: Number(pid),
          parent: Number(parent),
          group: Number(group),
          session: Number(group),
        };
        const unknown = {
          confinedPid: () => null,
          image: '',
          foregroundGroup: null,
          isEndedBy: () => false,
        };
        return [
          {
            ...ids,
            ...unknown,
            started,
            mark: () => marks.inEnvironment(command),
            works: () => WORKING.test(state),
          },
        ];
      });
    },
    // The list is as old as the run of `ps`. No pid is reused in that time.
    isThere: () => true,
    untilNow: () => null,
  };
}

/** Runs `ps`. Resolves with its output, which is empty if it fails. */
export async function runPs(args: string[]): Promise<string> {
  try {
    return (await runToEnd('/bin/ps', args, { encoding: 'latin1', maxBuffer: 256 * 1024 * 1024 }))
      .stdout;
  } catch (error) {
    // Some systems report processes that are gone by the exit code, and list the others.
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}
