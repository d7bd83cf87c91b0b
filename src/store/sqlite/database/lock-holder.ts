import { statOf } from '../../../base/paths/stat-of.ts';
import { posixLocks } from '../connect/posix-locks.ts';

/** The byte of the -shm file that a writer of a database in WAL mode locks. */
const WRITE_LOCK = 120;

/**
 * The process that has the write lock of a database. Null if there is none, or if the system does
 * not tell.
 */
export function lockHolder(file: string): number | null {
  const inode = statOf(`${file}-shm`)?.ino;
  const locks = posixLocks() ?? [];
  const held = locks.find(
    (lock) =>
      lock.inode === inode && lock.isWrite && lock.first <= WRITE_LOCK && lock.last >= WRITE_LOCK,
  );
  return held?.pid ?? null;
}
