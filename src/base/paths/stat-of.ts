import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { hasErrorCode } from '../system-error-code.ts';

// Synchronous: each call takes a few microseconds, and the start of a command needs dozens.

const UNSEEN = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];

/** The file itself, even if it is a link. Returns null if there is none, or none that this user can see. */
export function statOf(path: string): Stats | null {
  return unlessUnseen(() => lstatSync(path));
}

/** The text of a file. Returns null if there is none, or none that this user can read. */
export function textOf(path: string): string | null {
  return unlessUnseen(() => readFileSync(path, 'utf8'));
}

/** Returns null if the system reports that the file does not exist, or that this user cannot see it. Throws other errors. */
export function unlessUnseen<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (hasErrorCode(error, UNSEEN)) return null;
    throw error;
  }
}
