import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { unlessUnseen } from './stat-of.ts';

/**
 * The path with all links resolved. Returns null if nothing is there, or nothing that this user can
 * see.
 */
export function realPath(path: string): string | null {
  return unlessUnseen(() => realpathSync.native(path));
}

/**
 * The path with all links resolved, or the path itself if that fails for any reason. The caller
 * gets the reason when it reads the file.
 */
export function realPathOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** The same without blocking, for paths whose file system may hang. Does not reject. */
export async function realPathOrSameLater(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
