import { namesInProc } from '../../../base/files/read-proc.ts';
import { posixLocks } from '../connect/posix-locks.ts';

/** A lock of this process on a byte of a file, and the descriptor that has it. */
export interface OwnLock {
  inode: number;
  byte: number;
  descriptor: string;
}

/**
 * A lock of this process on a byte of a file. Null if there is none, or if the system does not
 * tell.
 */
export function findOwnLock(inode: number, byte: number): OwnLock | null {
  try {
    const locks = namesInProc('/proc/self/fd').map((descriptor) => ({ inode, byte, descriptor }));
    // Mostly the file was opened just now.
    return locks.findLast(isHeld) ?? null;
  } catch {
    return null;
  }
}

/** Whether a lock is still held by its descriptor. */
export function isHeld({ inode, byte, descriptor }: OwnLock): boolean {
  const locks = posixLocks(`/proc/self/fdinfo/${descriptor}`) ?? [];
  return locks.some((lock) => lock.inode === inode && lock.first <= byte && lock.last >= byte);
}
