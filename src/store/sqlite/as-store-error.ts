import { systemErrorCode } from '../../base/system-error-code.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

const FULL = ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT', 'EFBIG'];
const READ_ONLY = ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EACCES', 'EPERM', 'EROFS'];
const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];
const LOST_TABLE = /^no such (table|column)/;

/** The stored data contradicts itself. The store turns it into a StoreError `store_damaged`, which names the file. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/** The whole file is not a database of heddle. */
export class FileDamage extends Damage {}

/**
 * Returns the StoreError for an error of SQLite or the file system. Its message names the file, the cause and, if there is one,
 * the solution. Returns any other error unchanged, because it is a bug.
 */
export function asStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = storeCode(error);
  if (code === null) return error;
  return new StoreError(code, explain(code, file, error.message), {}, { cause: error });
}

/** Whether SQLite, or the opening of the database, found the file itself damaged, and not only one thread in it. */
export function isFileDamage(error: unknown): boolean {
  const code = systemErrorCode(error) ?? '';
  return (
    error instanceof FileDamage ||
    DAMAGED.some((known) => code.startsWith(known)) ||
    (error instanceof Error && LOST_TABLE.test(error.message))
  );
}

/** Whether the error becomes `store_read_only`. */
export function isReadOnly(error: unknown, file: string): boolean {
  const reason = asStoreError(error, file);
  return reason instanceof StoreError && reason.code === 'store_read_only';
}

export function newer(file: string, version: number, known: number): StoreError {
  return new StoreError(
    'store_newer',
    `${file} has version ${version}, but this heddle supports versions up to ${known}: update heddle, or use another home`,
  );
}

export function readOnly(file: string): StoreError {
  return new StoreError('store_read_only', explain('store_read_only', file, 'it is open for reading only'));
}

function storeCode(error: Error & { code?: unknown }): StoreErrorCode | null {
  if (error instanceof Damage) return 'store_damaged';
  const code = typeof error.code === 'string' ? error.code : '';
  const oneOf = (codes: string[]) => codes.some((known) => code === known || code.startsWith(`${known}_`));
  if (oneOf(FULL)) return 'store_full';
  if (oneOf(READ_ONLY)) return 'store_read_only';
  if (oneOf(DAMAGED) || LOST_TABLE.test(error.message)) return 'store_damaged';
  return code.startsWith('SQLITE_') || 'syscall' in error ? 'store_failed' : null;
}

function explain(code: StoreErrorCode, file: string, reason: string): string {
  switch (code) {
    case 'store_full':
      return `${file} cannot grow, because the disk is full or a size limit is reached. Nothing was written. Free some space (${reason})`;
    case 'store_read_only':
      return `${file} cannot be written: make the file and its folder writable (${reason})`;
    case 'store_damaged':
      return `${file} is damaged: run 'heddle store repair', or restore a backup with 'heddle store restore FILE' (${reason})`;
    default:
      return `${file} cannot be used (${reason})`;
  }
}
