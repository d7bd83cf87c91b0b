import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The beginning of a regular file, at most `bytesMax` bytes, and the file's whole size; null where there is no file.
 * Never waits for a pipe or a device. Throws where something is there that cannot be read, or is no regular file.
 */
export function readRegularFile(path: string, bytesMax: number): { bytes: Buffer; size: number } | null {
  const file = open(path);
  if (file === null) return null;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
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
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}
