import { systemErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import { type ErrorCause, errorCause } from './error-cause.ts';

const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];
const LOST_TABLE = /^no such (table|column)/;
const DAMAGE_ADVICE =
  "is damaged: run 'heddle store repair', or restore a backup with 'heddle store restore FILE'";

/**
 * The stored data contradicts itself. The store turns it into a StoreError `store_damaged`, which
 * names the file.
 */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/** The whole file is not a database of heddle. */
export class FileDamage extends Damage {}

/**
 * Returns the StoreError for an error of SQLite or the file system. Its message names the file, the
 * cause and, if there is one, the solution. Returns any other error unchanged, because it is a bug.
 */
export function asStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const cause = causeOf(error, file);
  if (cause === null) return error;
  return new StoreError(
    cause.code,
    `${file} ${cause.text} (${error.message})`,
    {},
    { cause: error },
  );
}

/**
 * Whether SQLite could not do something because another connection has a lock. Also for the
 * StoreError of such an error.
 */
export function isBusy(error: unknown): boolean {
  if (error instanceof StoreError) return isBusy(error.cause);
  return systemErrorCode(error)?.startsWith('SQLITE_BUSY') === true;
}

/**
 * The error of a call that has waited so long for the lock of another process. `pid`: that process,
 * if it is known.
 */
export function locked(file: string, ms: number, pid: number | null): StoreError {
  const other = pid === null ? 'another process' : `the process ${pid}`;
  const text = `${file} cannot be used: ${other} has held its lock for ${Math.round(ms / 1000)} s. Nothing was written. End that process`;
  return new StoreError('store_failed', text, pid === null ? {} : { pid });
}

/**
 * Whether SQLite, or the opening of the database, found the file itself damaged, and not only one
 * thread in it.
 */
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
  return new StoreError(
    'store_read_only',
    `${file} ${errorCause('EACCES', file)?.text} (it is open for reading only)`,
  );
}

function causeOf(error: Error & { code?: unknown }, file: string): ErrorCause | null {
  const code = typeof error.code === 'string' ? error.code : '';
  const isDamage =
    error instanceof Damage ||
    DAMAGED.some((known) => code === known || code.startsWith(`${known}_`));
  if (isDamage || LOST_TABLE.test(error.message))
    return { code: 'store_damaged', text: DAMAGE_ADVICE };
  const cause = errorCause(code, file);
  if (cause !== null) return cause;
  return code.startsWith('SQLITE_') || 'syscall' in error
    ? { code: 'store_failed', text: 'cannot be used' }
    : null;
}
