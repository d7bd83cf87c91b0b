import { type FileHandle, stat } from 'node:fs/promises';
import { readProcLink } from '../base/files/read-proc.ts';

let ownProcess: string | null = null;

/**
 * Returns a path that leads to an open file or folder, whatever has its name now. This process and
 * its children can use it as long as the handle is open. Returns null if the system has no such
 * path.
 */
export async function descriptorPath(handle: FileHandle): Promise<string | null> {
  try {
    // By number: a child can have another file at the same descriptor.
    ownProcess ??= readProcLink('/proc/self');
    const path = `/proc/${ownProcess}/fd/${handle.fd}`;
    const [through, own] = await Promise.all([
      stat(path, { bigint: true }),
      handle.stat({ bigint: true }),
    ]);
    return through.ino === own.ino && through.dev === own.dev ? path : null;
  } catch {
    // This system or container has no /proc.
    return null;
  }
}
