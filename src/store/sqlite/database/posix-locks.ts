import { readProc } from '../../../base/files/read-proc.ts';

/** A lock on a range of bytes of a file. */
export interface PosixLock {
  pid: number;
  /** Without the device: some file systems show another one here than elsewhere. */
  inode: number;
  isWrite: boolean;
  first: number;
  /** Infinity: the end of the file. */
  last: number;
}

/** All locks of the kind that SQLite takes, and no requests for them. Null where the system does not show them. */
export function posixLocks(): PosixLock[] | null {
  const rows = readProc('/proc/locks', 'latin1')?.matchAll(/^\d+: POSIX +\S+ +(\w+) +(\d+) \w+:\w+:(\d+) (\d+) (\d+|EOF)/gm);
  if (rows === undefined) return null;
  return [...rows].map(([, kind, pid, inode, first, last]) => ({
    pid: Number(pid),
    inode: Number(inode),
    isWrite: kind === 'WRITE',
    first: Number(first),
    last: last === 'EOF' ? Number.POSITIVE_INFINITY : Number(last),
  }));
}
