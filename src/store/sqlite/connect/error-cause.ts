import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { draftFile } from '../../../base/files/draft-file.ts';
import { statOf } from '../../../base/paths/stat-of.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import type { StoreErrorCode } from '../../store-error.ts';

/** Why a call of the store failed, and what to do. */
export interface ErrorCause {
  code: StoreErrorCode;
  /** Follows the path of the database. */
  text: string;
}

const full = (why: string, advice: string): ErrorCause => ({
  code: 'store_full',
  text: `cannot grow, because ${why}. Nothing was written. ${advice}`,
});
const readOnly = (advice: string): ErrorCause => ({
  code: 'store_read_only',
  text: `cannot be written: ${advice}`,
});
const failed = (why: string): ErrorCause => ({
  code: 'store_failed',
  text: `cannot be used: ${why}`,
});

const NO_SPACE = full('the disk is full', 'Free some space');
const NO_PERMISSION = readOnly('make the file and its folder writable');
const BROKEN = failed(
  "the disk, or the connection to it, reported an error: check it, then restart heddle and run 'heddle store check'",
);
const NO_LOCKS = failed(
  "the file system does not support locks: put heddle's home on a local disk",
);
const NO_MEMORY = failed('there is not enough memory: end some processes');

/**
 * Causes by the codes of the system and of SQLite. A longer code of SQLite counts as the longest of
 * these that it begins with.
 */
const CAUSES: Readonly<Record<string, ErrorCause>> = {
  EACCES: NO_PERMISSION,
  EDQUOT: full('your disk quota is used up', 'Free some space, or get a larger quota'),
  EFBIG: full(
    'a limit for the size of files is reached (of this process, or of the file system)',
    'Free some space, or raise the limit',
  ),
  EIO: BROKEN,
  ELOOP: failed('its path has too many symbolic links'),
  EMFILE: failed(
    'this process has too many open files: close some, or raise the limit (ulimit -n)',
  ),
  ENAMETOOLONG: failed('its path is too long: choose another home'),
  ENFILE: failed('the system has too many open files: end some processes'),
  ENODEV: BROKEN,
  ENOLCK: NO_LOCKS,
  ENOMEM: NO_MEMORY,
  ENOSPC: NO_SPACE,
  ENOTDIR: failed('a part of its path is a file, not a folder'),
  ENXIO: BROKEN,
  EPERM: NO_PERMISSION,
  EROFS: readOnly('the file system is read-only, so remount it, or use another home'),
  ESTALE: failed('the network file system has lost the file: mount it again, and restart heddle'),
  SQLITE_CANTOPEN: NO_PERMISSION,
  SQLITE_FULL: NO_SPACE,
  SQLITE_IOERR: BROKEN,
  SQLITE_IOERR_LOCK: NO_LOCKS,
  SQLITE_IOERR_NOMEM: NO_MEMORY,
  SQLITE_IOERR_RDLOCK: NO_LOCKS,
  SQLITE_NOMEM: NO_MEMORY,
  SQLITE_PROTOCOL: NO_LOCKS,
  SQLITE_READONLY: NO_PERMISSION,
};

/** SQLite has one code for these errors of the system, whatever the system said. */
const VAGUE = [
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_SHMSIZE',
  'SQLITE_IOERR_FSYNC',
  'SQLITE_IOERR_TRUNCATE',
  'SQLITE_CANTOPEN',
];

/**
 * Returns the cause of an error with this code of the system or of SQLite, on this database. Null:
 * the code says no cause.
 */
export function errorCause(code: string, file: string): ErrorCause | null {
  const cause = VAGUE.some((vague) => code.startsWith(vague))
    ? CAUSES[writeProblem(file) ?? '']
    : undefined;
  if (cause !== undefined) return cause;
  if (!code.startsWith('SQLITE_')) return CAUSES[code] ?? null;
  const known = Object.keys(CAUSES).filter((one) => code === one || code.startsWith(`${one}_`));
  return CAUSES[known.sort().at(-1) ?? ''] ?? null;
}

/** More than a block, so that a full disk has no room for it. */
const PROBE_BYTES = 64 * 1024;

/** The system's code for writing a new file beside the database. Null: that is possible. */
function writeProblem(file: string): string | null {
  const probe = draftFile(file);
  try {
    // A limit for the size of files is met only where the database would grow.
    const end = Math.max(...['', '-wal'].map((name) => statOf(file + name)?.size ?? 0));
    const descriptor = openSync(probe, 'wx', 0o600);
    try {
      // The system writes what fits, and gives the error at the next attempt.
      for (let at = 0; at < PROBE_BYTES; )
        at += writeSync(
          descriptor,
          Buffer.alloc(PROBE_BYTES - at, 1),
          0,
          PROBE_BYTES - at,
          end + at,
        );
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
      rmSync(probe, { force: true });
    }
    return null;
  } catch (error) {
    return systemErrorCode(error);
  }
}
