import { constants, type Stats, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { absentPath, hasNul } from '../paths/stat-of.ts';
import { type AnyPath, FileRefusedError } from './file-refused-error.ts';
import { type OpenFile, openPinned, openPinnedSync } from './open-pinned.ts';

// Others wrote the files of workspaces, temporary folders and homes, so anything may be at their
// paths: a pipe without a writer, an endless device, a link, a name that the system refuses,
// heddle's own database.

// Windows has neither of the last two flags. A pipe or a terminal must not make the server wait, or
// become its terminal.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** The path leads to a folder, a pipe, a device or another file that is not regular. */
export class IrregularFileError extends FileRefusedError {
  override readonly name = 'IrregularFileError';
}

/** A file with more bytes than its reader reads. */
export class FileTooLargeError extends FileRefusedError {
  override readonly name = 'FileTooLargeError';
  readonly size: number;

  constructor(size: number, bytesMax: number) {
    super(`it has ${size} bytes, and the limit is ${bytesMax}`);
    this.size = size;
  }
}

/**
 * Opens a regular file for reading. Never waits for a pipe, a device or a socket. The caller closes
 * the file. Rejects with the system's error, with ENOENT for a path with a NUL, with an
 * OwnFileError for a file of heddle's store, and with an IrregularFileError for anything else than
 * a regular file; without `followLinks` also for a link.
 */
export async function openRegularFile(
  path: AnyPath,
  { followLinks = true } = {},
): Promise<{ file: FileHandle; stats: Stats }> {
  if (hasNul(path)) throw absentPath(path);
  return openPinned(path, {
    flags: FLAGS,
    followLinks,
    check: (stats) => requireRegular(path, stats),
  });
}

/**
 * The same at once, through links. Returns null, faster than an error, if there is nothing at the
 * path.
 */
export function openRegularFileSync(path: string): OpenFile | null {
  if (hasNul(path) || statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  return openPinnedSync(path, { flags: FLAGS, check: (stats) => requireRegular(path, stats) });
}

function requireRegular(path: AnyPath, stats: Stats): void {
  if (!stats.isFile()) throw new IrregularFileError(`${path} is not a regular file`);
}
