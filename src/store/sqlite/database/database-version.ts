import type { Database } from 'better-sqlite3';
import { FileDamage } from '../connect/as-store-error.ts';
import { schemaVersion } from './migrate.ts';

const APPLICATION_ID = 0x6865646c;

/** Returns the version of a heddle database. Throws FileDamage if it is none. */
export function databaseVersion(db: Database): number {
  const version = schemaVersion(db);
  if (version === 0 || db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    throw new FileDamage('it is not a heddle database');
  return version;
}
