import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { isFileDamage } from '../connect/as-store-error.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { checkDatabase } from './check-database.ts';

/** The problems of a file, a sentence each. */
export function databaseFindings(file: string, connect: Connect): string[] {
  let db: Database | null = null;
  try {
    if (statSync(file).size === 0) return ['it is empty'];
    db = connect(file, { readonly: true, fileMustExist: true });
    return checkDatabase(db, file);
  } catch (error) {
    if (!isFileDamage(error) || !(error instanceof Error)) throw error;
    return [error.message];
  } finally {
    db?.close();
  }
}
