import { namesInProc, readProc } from '../../../base/files/read-proc.ts';

/** A lock of this process on a byte of a file, and the descriptor that has it. */
export interface OwnLock {
  inode: number;
  byte: number;
  descriptor: string;
}

/** A lock of this process on a byte of a file. Null if there is none, or if the system does not tell. */
export function findOwnLock(inode: number, byte: number): OwnLock | null {
  try {
    const locks = namesInProc('/proc/self/fd').map((descriptor) => ({ inode, byte, descriptor }));
    // Mostly the file was opened just now.
    return locks.findLast(isHeld) ?? null;
  } catch {
    return null;
  }
}

/**
 * Whether a lock is still held by its descriptor. The kernel lists the locks of a descriptor in microseconds; for `/proc/locks`, all
 * processors have to meet, which can take 15 ms. Devices are not compared: some file systems show other ones there than elsewhere.
 */
export function isHeld({ inode, byte, descriptor }: OwnLock): boolean {
  const locks = (readProc(`/proc/self/fdinfo/${descriptor}`, 'latin1') ?? '').matchAll(LOCK);
  return [...locks].some(([, locked, first, last]) => Number(locked) === inode && Number(first) <= byte && !(Number(last) < byte));
}

/** EOF, which is no number, stands for all bytes that may follow. */
const LOCK = /^lock:\t\d+: POSIX +\S+ +\S+ \d+ \w+:\w+:(\d+) (\d+) (\d+|EOF)/gm;
