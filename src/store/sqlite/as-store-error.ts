import { StoreError, type StoreErrorCode } from '../store-error.ts';

const FULL = ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT', 'EFBIG'];
const READ_ONLY = ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EACCES', 'EPERM', 'EROFS'];
const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

/** What is on record contradicts itself. The store turns it into `store_damaged`, which names the file. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/**
 * The StoreError that a failure of SQLite or of the file system stands for, in a text that names the file and says what
 * to do. Anything else is a bug of ours, and comes back as it is.
 */
export function asStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = storeCode(error);
  if (code === null) return error;
  return new StoreError(code, explain(code, file, error.message), {}, { cause: error });
}

/** Whether the failure is one that is `store_read_only`. */
export function isReadOnly(error: unknown, file: string): boolean {
  const reason = asStoreError(error, file);
  return reason instanceof StoreError && reason.code === 'store_read_only';
}

export function newer(file: string, version: number, known: number): StoreError {
  return new StoreError(
    'store_newer',
    `${file} is of version ${version}, this heddle knows up to ${known}: update heddle, or use another home`,
  );
}

export function readOnly(file: string): StoreError {
  return new StoreError('store_read_only', explain('store_read_only', file, 'opened for reading only'));
}

function storeCode(error: Error & { code?: unknown }): StoreErrorCode | null {
  if (error instanceof Damage) return 'store_damaged';
  const code = typeof error.code === 'string' ? error.code : '';
  const oneOf = (codes: string[]) => codes.some((known) => code === known || code.startsWith(`${known}_`));
  if (oneOf(FULL)) return 'store_full';
  if (oneOf(READ_ONLY)) return 'store_read_only';
  if (oneOf(DAMAGED) || /^no such (table|column)/.test(error.message)) return 'store_damaged';
  return code.startsWith('SQLITE_') || 'syscall' in error ? 'store_failed' : null;
}

function explain(code: StoreErrorCode, file: string, reason: string): string {
  switch (code) {
    case 'store_full':
      return `${file} cannot grow, its disk is full or a size limit is reached: free some space; nothing was written (${reason})`;
    case 'store_read_only':
      return `${file} cannot be written: make the file and its folder writable (${reason})`;
    case 'store_damaged':
      return `${file} is damaged: put back a copy of it, or move it away to start anew (${reason})`;
    default:
      return `${file} cannot be used (${reason})`;
  }
}
