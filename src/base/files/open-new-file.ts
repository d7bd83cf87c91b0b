import { constants, fstatSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolveLinks } from '../paths/follow-path.ts';
import { isAbsent } from '../system-error-code.ts';
import { type AnyPath, OwnFileError } from './file-refused-error.ts';
import { openPinnedSync } from './open-pinned.ts';
import { ownFile, ownName } from './own-file.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_WRONLY } = constants;
// Windows has neither of these.
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const O_NONBLOCK = constants.O_NONBLOCK ?? 0;

/**
 * Throws an OwnFileError if heddle's store has its files at this path. Call it before anything is
 * created, replaced or removed there.
 */
export function requireForeignName(path: AnyPath): void {
  const own = ownName(path);
  if (own !== null) throw new OwnFileError(path, own);
}

/**
 * Creates a file for writing. Rejects with the system's error, with EEXIST if anything is at the
 * path, and with an OwnFileError.
 */
export async function openNewFile(path: AnyPath, mode: number): Promise<FileHandle> {
  requireForeignName(path);
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
}

/**
 * Opens a file for appending, whatever its kind is, through links, and creates it if it is missing.
 * With `reads` it can be read too, and a pipe is not waited for. Throws the system's error or an
 * OwnFileError.
 */
export function openForAppendingSync(path: string, mode: number, { reads = false } = {}): number {
  const flags = O_APPEND | (reads ? O_RDWR | O_NONBLOCK : O_WRONLY);
  try {
    return openPinnedSync(path, { flags }).descriptor;
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  requireForeignName(resolveLinks(path));
  const descriptor = openSync(path, flags | O_CREAT, mode);
  // A link to the store's file may just have been made. It stays open: to close it would drop the
  // store's locks.
  const own = ownFile(fstatSync(descriptor));
  if (own !== null) throw new OwnFileError(path, own);
  return descriptor;
}
