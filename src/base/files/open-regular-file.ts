import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { absentPath, hasNul } from '../paths/stat-of.ts';

// The files of workspaces, temporary folders and homes are opened in this file only. Others wrote them, so anything may be at
// their paths: a pipe without a writer, an endless device, a link, a name that the system refuses.

// Windows has neither of the last three flags. A pipe or a terminal must not make the server wait, or become its terminal.
const { O_RDONLY } = constants;
const O_NONBLOCK = constants.O_NONBLOCK ?? 0;
const O_NOCTTY = constants.O_NOCTTY ?? 0;
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY;

/** A path as a string or as bytes, because names need not be UTF-8. */
export type AnyPath = string | Buffer;

/** A file that the server does not read, though the system would allow it. */
export class FileRefusedError extends Error {
  override readonly name: string = 'FileRefusedError';
}

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
 * Opens a regular file for reading. Never waits for a pipe, a device or a socket. The caller closes the file. Rejects with the
 * system's error, with ENOENT for a path with a NUL, and with an IrregularFileError for anything else than a regular
 * file; without `followLinks` also for a link.
 */
export async function openRegularFile(path: AnyPath, { followLinks = true } = {}): Promise<{ file: FileHandle; stats: Stats }> {
  if (hasNul(path)) throw absentPath(path);
  // Check before opening: opening a device, or a pipe that has a writer, can have side effects.
  requireRegular(path, await (followLinks ? stat(path) : lstat(path)));
  const file = await open(path, followLinks ? FLAGS : FLAGS | O_NOFOLLOW);
  try {
    // Check again: another file may have replaced it before it was opened.
    const stats = await file.stat();
    requireRegular(path, stats);
    return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Like `openRegularFile`, but synchronous, and follows links. Returns null if nothing is at the path, which is faster than an error. */
export function openRegularFileSync(path: string): { descriptor: number; stats: Stats } | null {
  if (hasNul(path)) return null;
  const seen = statSync(path, { throwIfNoEntry: false });
  if (seen === undefined) return null;
  requireRegular(path, seen);
  const descriptor = openSync(path, FLAGS);
  try {
    const stats = fstatSync(descriptor);
    requireRegular(path, stats);
    return { descriptor, stats };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function requireRegular(path: AnyPath, stats: Stats): void {
  if (!stats.isFile()) throw new IrregularFileError(`${path} is not a regular file`);
}
