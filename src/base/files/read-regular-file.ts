import { closeSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { realPathOrSame } from '../paths/real-path.ts';
import { isAbsent } from '../system-error-code.ts';
import { FileRefusedError } from './file-refused-error.ts';
import { FileTooLargeError, openRegularFile, openRegularFileSync } from './open-regular-file.ts';

export interface ReadOptions {
  bytesMax: number;
  /**
   * If true, only the first `bytesMax` bytes of a larger file are read. Default false: a larger
   * file is refused.
   */
  cut?: boolean;
  /** Default true. If false, a link is refused. */
  followLinks?: boolean;
  /**
   * Returns whether a file may be read. `real` is the real path of the open file, so replacing the
   * file does not bypass the check.
   */
  mayLieAt?: (real: string) => boolean;
}

/** The bytes that were read, and the size of the whole file. */
export interface FileContent {
  bytes: Buffer;
  size: number;
}

/**
 * Reads a regular file, off the main loop. Resolves with null if there is none. Rejects with the
 * system's error, and with a FileRefusedError if the file is not a regular one, belongs to heddle's
 * store, is too large, or lies where it may not be read.
 */
export async function readRegularFile(
  path: string,
  options: ReadOptions,
): Promise<FileContent | null> {
  const opened = await openRegularFile(path, options).catch((error: unknown) => {
    if (isAbsent(error)) return null;
    throw error;
  });
  if (opened === null) return null;
  const { file, stats } = opened;
  try {
    const bytes = roomFor(path, { descriptor: file.fd, stats }, options);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { bytes: bytes.subarray(0, length), size: stats.size };
  } finally {
    await file.close();
  }
}

/** The same at once, for single small files: a read takes some microseconds. */
export function readRegularFileSync(
  path: string,
  options: Omit<ReadOptions, 'followLinks'>,
): FileContent | null {
  const opened = unlessAbsent(() => openRegularFileSync(path));
  if (opened === null) return null;
  const { descriptor, stats } = opened;
  try {
    const bytes = roomFor(path, opened, options);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    return { bytes: bytes.subarray(0, length), size: stats.size };
  } finally {
    closeSync(descriptor);
  }
}

function unlessAbsent<T>(open: () => T): T | null {
  try {
    return open();
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Returns a buffer for the bytes to read from an open file. Throws if the file may not be read. */
function roomFor(
  path: string,
  { descriptor, stats }: { descriptor: number; stats: Stats },
  options: ReadOptions,
): Buffer {
  const { bytesMax, cut = false, mayLieAt } = options;
  if (mayLieAt !== undefined && !mayLieAt(openedPath(descriptor, path))) {
    throw new FileRefusedError(`${path} is in, or links to, a folder that may not be read`);
  }
  if (!cut && stats.size > bytesMax) throw new FileTooLargeError(stats.size, bytesMax);
  return Buffer.allocUnsafe(Math.min(stats.size, bytesMax));
}

function openedPath(descriptor: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // Without /proc, a link that replaces the file between the two calls is not noticed.
    return realPathOrSame(path);
  }
}
