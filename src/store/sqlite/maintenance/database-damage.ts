import type { Database } from 'better-sqlite3';
import { readRegularFile } from '../../../base/files/read-regular-file.ts';
import { statOf } from '../../../base/paths/stat-of.ts';
import { asStoreError, isBusy, isFileDamage } from '../connect/as-store-error.ts';
import { loadSqlite, openCopy } from '../connect/load-sqlite.ts';
import type { NodeVersions } from '../connect/native-build-problem.ts';
import { checkDatabase } from './check-database.ts';

/** The largest database that is checked: about a second of work. */
const CHECKED_BYTES_MAX = 64 * 1024 * 1024;
/** The places in the file that say whether it has a WAL, and the value for none. */
const WAL_PLACES = [18, 19];
const NO_WAL = 1;
const WITH_COMMAND = "run 'heddle store check'";

/**
 * What a look at the database shows: what is wrong with it, why it was not checked, or why it
 * cannot be used.
 */
export type DatabaseState =
  | { state: 'checked'; findings: string[] }
  | { state: 'unchecked' | 'unusable'; why: string };

/**
 * Looks for damage in a database without changing any file. Only what can be read that way is
 * checked: a database of moderate size that is closed, so that it has no WAL, or whose WAL has its
 * index. Never rejects.
 */
export async function databaseDamage(file: string, versions: NodeVersions): Promise<DatabaseState> {
  const stats = statOf(file);
  if (stats?.isFile() !== true) return { state: 'unusable', why: `${file} is not a file` };
  if (stats.size === 0) return { state: 'checked', findings: ['it is empty'] };
  if (stats.size > CHECKED_BYTES_MAX) return unchecked(`it is large; ${WITH_COMMAND}`);
  try {
    const db = await opened(file, versions);
    return typeof db === 'string'
      ? unchecked(db)
      : { state: 'checked', findings: findings(db, file) };
  } catch (error) {
    if (isFileDamage(error) && error instanceof Error)
      return { state: 'checked', findings: [error.message] };
    const reason = asStoreError(error, file);
    const why = reason instanceof Error ? reason.message : String(reason);
    return isBusy(reason) ? unchecked(why) : { state: 'unusable', why };
  }
}

/** Opens the database without changing any file, or says why it cannot. */
async function opened(file: string, versions: NodeVersions): Promise<Database | string> {
  if (statOf(`${file}-shm`) !== null)
    return (await loadSqlite(versions))(file, { readonly: true, fileMustExist: true });
  if ((statOf(`${file}-wal`)?.size ?? 0) > 0) return `it was not closed; ${WITH_COMMAND}`;
  return (await copyInMemory(file)) ?? `better-sqlite3 is not built for this Node; ${WITH_COMMAND}`;
}

function unchecked(why: string): DatabaseState {
  return { state: 'unchecked', why };
}

/** A copy in memory: for the file itself, SQLite would make a WAL. */
async function copyInMemory(file: string): Promise<Database | null> {
  const bytes =
    (await readRegularFile(file, { bytesMax: CHECKED_BYTES_MAX }))?.bytes ?? Buffer.alloc(0);
  for (const place of WAL_PLACES) if (place < bytes.length) bytes[place] = NO_WAL;
  return openCopy(bytes);
}

function findings(db: Database, file: string): string[] {
  try {
    return checkDatabase(db, file);
  } finally {
    db.close();
  }
}
