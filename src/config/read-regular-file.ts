import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { realPathOrSame } from '../base/real-path.ts';
import { isAbsent } from '../base/system-error-code.ts';

/**
 * The beginning of a regular file, at most `bytesMax` bytes, and the file's whole size; null where there is no file.
 * Never waits for a pipe or a device. Throws where something is there that cannot be read, is no regular file, or, with links
 * resolved, lies where it may not lie: that is asked of the very file that is read, whatever takes its name meanwhile.
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
    if (!mayLieAt(openedPath(file, path))) throw new Error(`${path} lies, or leads, where it may not be read`);
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
    // A system without /proc: there a link that is put in its place right now would not be seen.
    return realPathOrSame(path);
  }
}
