import { readProc } from '../../../base/files/read-proc.ts';
import { statOf } from '../../../base/paths/stat-of.ts';

/** The byte of the -shm file that a writer of a database in WAL mode locks. */
const WRITE_LOCK = 120;

/** The process that has the write lock of a database. Null if there is none, or if the system does not tell. */
export function lockHolder(file: string): number | null {
  const inode = statOf(`${file}-shm`)?.ino;
  for (const line of readProc('/proc/locks')?.split('\n') ?? []) {
    const [, pid, , lockedInode, first, last] = /WRITE\s+(\d+) (\w+:\w+):(\d+) (\d+) (\d+|EOF)/.exec(line) ?? [];
    const holds = Number(first) <= WRITE_LOCK && (last === 'EOF' || Number(last) >= WRITE_LOCK);
    if (pid !== undefined && holds && Number(lockedInode) === inode) return Number(pid);
  }
  return null;
}
