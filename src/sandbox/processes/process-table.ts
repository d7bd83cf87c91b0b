import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessMarks } from './process-mark.ts';

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** Linux only; elsewhere that of the group. */
  session: number;
  /** When it started: tells it from a later process of the same number. */
  started: string;
  /** The number of the mark that it carries; null: it carries none. */
  mark(): number | null;
}

/** The processes of this machine. */
export interface ProcessTable {
  /** Those that live: what has ended and is only kept for its parent is none. This process and what is older are left out. */
  list(): Promise<ProcessEntry[]>;
  /** Whether it still is the same process. */
  isThere(entry: ProcessEntry): boolean;
}

/** How many processes are looked at before others are let in. */
const AT_ONCE = 50;

export function createProcessTable(platform: NodeJS.Platform, marks: ProcessMarks): ProcessTable {
  return shared(platform === 'linux' ? linuxTable(marks) : portableTable(marks));
}

/** Who asks at the same time is given the same list, which was begun after they asked: many are often killed at once. */
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
  };
}

interface LinuxStat {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  startTicks: number;
}

function linuxTable(marks: ProcessMarks): ProcessTable {
  const self = readStat('self');
  return {
    async list() {
      const entries: ProcessEntry[] = [];
      const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      for (const [index, pid] of pids.entries()) {
        if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
        const stat = readStat(pid);
        if (stat === null || isOver(stat) || stat.pid === self?.pid || stat.startTicks < (self?.startTicks ?? 0)) continue;
        const { parent, group, session, startTicks } = stat;
        let mark: number | null | undefined;
        const markOnce = () => {
          if (mark === undefined) mark = linuxMark(marks, pid);
          return mark;
        };
        entries.push({ pid: stat.pid, parent, group, session, started: String(startTicks), mark: markOnce });
      }
      return entries;
    },
    isThere({ pid, started }) {
      const stat = readStat(String(pid));
      return stat !== null && !isOver(stat) && String(stat.startTicks) === started;
    },
  };
}

function isOver({ state }: LinuxStat): boolean {
  return state === 'Z' || state === 'X';
}

/** Null: there is no such process. */
function readStat(pid: string): LinuxStat | null {
  const text = readProc(`/proc/${pid}/stat`);
  // The program's name stands in brackets, and may hold any character.
  const [state = '', ...numbers] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, group, session] = numbers.map(Number);
  if (parent === undefined || group === undefined || session === undefined) return null;
  return { pid: Number.parseInt(text, 10), state, parent, group, session, startTicks: Number(numbers[18]) };
}

function linuxMark(marks: ProcessMarks, pid: string): number | null {
  return marks.inEnvironment(readProc(`/proc/${pid}/environ`)) ?? marks.inLimits(readProc(`/proc/${pid}/limits`));
}

/** Empty where it is gone, or is nobody's to read. */
function readProc(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** By `ps`, which shows the environment of a user's own processes. */
function portableTable(marks: ProcessMarks): ProcessTable {
  const columns = ['pid=', 'ppid=', 'pgid=', 'stat=', 'lstart=', 'command='].flatMap((column) => ['-o', column]);
  return {
    async list() {
      const lines = (await runPs(['-A', '-E', '-ww', ...columns])).split('\n');
      return lines.flatMap((line) => {
        const [, pid, parent, group, state = '', started = '', command = ''] =
          /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/.exec(line) ?? [];
        if (pid === undefined || state.startsWith('Z') || command.startsWith('ps -A -E')) return [];
        const ids = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) };
        return [{ ...ids, started, mark: () => marks.inEnvironment(command) }];
      });
    },
    // The list is as old as `ps` took: no number comes round in that time.
    isThere: () => true,
  };
}

function runPs(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile('/bin/ps', args, { encoding: 'latin1', maxBuffer: 256 * 1024 * 1024 }, (_error, stdout) => resolve(stdout));
  });
}
