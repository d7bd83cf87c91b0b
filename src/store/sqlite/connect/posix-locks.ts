import { type ProcPath, readProc } from '../../../base/files/read-proc.ts';

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

/**
 * The locks of the kind that SQLite takes, and no requests for them: all of the system, or those of
 * a descriptor. Null where the system does not show them. To list all, the kernel can take 15 ms,
 * because all processors have to meet.
 */
export function posixLocks(path: ProcPath = '/proc/locks'): PosixLock[] | null {
  const rows = readProc(path, 'latin1')?.matchAll(
    /^(?:lock:\t)?\d+: POSIX +\S+ +(\w+) +(\d+) \w+:\w+:(\d+) (\d+) (\d+|EOF)/gm,
  );
  if (rows === undefined) return null;
  return [...rows].map(([, kind, pid, inode, first, last]) => ({
    pid: Number(pid),
    inode: Number(inode),
    isWrite: kind === 'WRITE',
    first: Number(first),
    last: last === 'EOF' ? Number.POSITIVE_INFINITY : Number(last),
  }));
}
