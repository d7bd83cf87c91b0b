import { systemErrorCode } from '../../base/system-error-code.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

const FULL = ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT', 'EFBIG'];
const READ_ONLY = ['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EACCES', 'EPERM', 'EROFS'];
const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

/** The stored data contradicts itself. The store turns it into a StoreError `store_damaged`, which names the file. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

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

/** Whether SQLite could not do something because another connection has a lock. Also for the StoreError of such an error. */
export function isBusy(error: unknown): boolean {
  if (error instanceof StoreError) return isBusy(error.cause);
  return systemErrorCode(error)?.startsWith('SQLITE_BUSY') === true;
}

/** The error of a call that has waited so long for the lock of another process. `pid`: that process, if it is known. */
export function locked(file: string, ms: number, pid: number | null): StoreError {
  const other = pid === null ? 'another process' : `the process ${pid}`;
  const text = `${file} cannot be used: ${other} has held its lock for ${Math.round(ms / 1000)} s. Nothing was written. End that process`;
  return new StoreError('store_failed', text, pid === null ? {} : { pid });
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
  if (oneOf(DAMAGED) || /^no such (table|column)/.test(error.message)) return 'store_damaged';
  return code.startsWith('SQLITE_') || 'syscall' in error ? 'store_failed' : null;
}

function explain(code: StoreErrorCode, file: string, reason: string): string {
  switch (code) {
    case 'store_full':
      return `${file} cannot grow, because the disk is full or a size limit is reached. Nothing was written. Free some space (${reason})`;
    case 'store_read_only':
      return `${file} cannot be written: make the file and its folder writable (${reason})`;
    case 'store_damaged':
      return `${file} is damaged: restore a copy of it, or move it away to start with an empty database (${reason})`;
    default:
      return `${file} cannot be used (${reason})`;
  }
}
