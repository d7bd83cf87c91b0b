import { lstatSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import { hasErrorCode } from '../system-error-code.ts';

// Synchronous: each call takes a few microseconds, and the start of a command needs dozens.

/** The server, and not the path, is the reason for these errors. The path may be there. */
const OWN_FAILURES = ['EMFILE', 'ENFILE', 'ENOMEM'];

/**
 * Whether an error is about this process, such as too many open files, so that what it looked for
 * may be there.
 */
export function isOwnFailure(error: unknown): boolean {
  return hasErrorCode(error, OWN_FAILURES);
}

/**
 * Returns the stats of a file; of a link, those of the link itself. Returns null if this user can
 * see nothing at the path.
 */
export function statOf(path: string): Stats | null {
  return unlessUnseen(() => lstatSync(path, { throwIfNoEntry: false })) ?? null;
}

/**
 * Returns null if nothing can be seen at a path, whatever the system says about the path: that
 * nothing is there, that this user may not look, that the links go in a circle, that the name is
 * too long or contains a NUL, or that the file system is broken. Other programs of this user see
 * nothing there either. Throws other errors.
 */
export function unlessUnseen<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (isAboutPath(error)) return null;
    throw error;
  }
}

/**
 * Whether a path contains a NUL. The system has no such paths, and Node refuses them with an error
 * of its own.
 */
export function hasNul(path: string | Buffer): boolean {
  return path.includes('\0');
}

/** The system's error for a path at which there is nothing. */
export function absentPath(path: string | Buffer): Error {
  const shown = JSON.stringify(String(path));
  return Object.assign(new Error(`ENOENT: no such file or directory, ${shown}`), {
    code: 'ENOENT',
    errno: -constants.errno.ENOENT,
  });
}

function isAboutPath(error: unknown): boolean {
  if (hasErrorCode(error, ['ERR_INVALID_ARG_VALUE'])) return true;
  return error instanceof Error && 'syscall' in error && !isOwnFailure(error);
}
