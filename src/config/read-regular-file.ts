import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { isAbsent } from '../base/system-error-code.ts';

/**
 * Reads at most `bytesMax` bytes from the start of a regular file. Also returns the size of the whole file. Returns null if there
 * is no file. Never blocks on a pipe or a device. Throws if the file cannot be read or is not a regular file, or if `mayLieAt`
 * refuses its real path. The real path is that of the open file, so the check cannot be bypassed by replacing the file.
 */
export function readRegularFile(
  path: string,
  bytesMax: number,
  mayLieAt: (real: string) => boolean = () => true,
): { bytes: Buffer; size: number } | null {
  const file = open(path);
  if (file === null) return null;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (!mayLieAt(openedPath(file, path))) throw new Error(`${path} is in, or links to, a folder that may not be read`);
    const bytes = Buffer.alloc(Math.min(stat.size, bytesMax));
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(file, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    return { bytes: bytes.subarray(0, length), size: stat.size };
  } finally {
    closeSync(file);
  }
}

function open(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function openedPath(file: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch {
    // Without /proc, a link that replaces the file between the two calls is not noticed.
    return realPathOrSame(path);
  }
}
