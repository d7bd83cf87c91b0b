import { statSync } from 'node:fs';
import { StoreError } from '../../store-error.ts';
import { isFileDamage } from '../connect/as-store-error.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from '../database/migrate.ts';
import { checkDatabase } from './check-database.ts';

interface Seal {
  connect: Connect;
  migrationsDir: string;
  mode: 'DELETE' | 'WAL';
  /** The beginning of the error for a damaged copy. */
  ifDamaged: string;
  /** The file that is named if it is of a newer version. */
  shownAs?: string;
}

/**
 * Makes a copy one file without a WAL, checks all of it, and returns the number of its threads.
 * Throws `store_damaged`.
 */
export function sealCopy(
  draft: string,
  { connect, migrationsDir, mode, ifDamaged, shownAs = draft }: Seal,
): number {
  const damaged = (reason: string) => new StoreError('store_damaged', `${ifDamaged} (${reason})`);
  try {
    if (statSync(draft).size === 0) throw damaged('it is empty');
    const db = connect(draft, { fileMustExist: true });
    try {
      db.pragma('journal_mode = DELETE');
      const wrong = checkDatabase(db, shownAs);
      if (wrong.length > 0) throw damaged(wrong.join('; '));
      if (mode === 'WAL' && schemaVersion(db) < SCHEMA_VERSION) migrate(db, migrationsDir);
      const threads = Number(db.prepare('SELECT count(*) FROM thread').pluck().get());
      db.pragma(`journal_mode = ${mode}`);
      return threads;
    } finally {
      db.close();
    }
  } catch (error) {
    if (isFileDamage(error) && error instanceof Error) throw damaged(error.message);
    throw error;
  }
}
