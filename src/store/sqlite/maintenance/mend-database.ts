import { statSync } from 'node:fs';
import { StoreError } from '../../store-error.ts';
import { enterGateAlone, inUse, whileOthersLeave } from '../database/gate.ts';
import type { Connect } from '../database/load-sqlite.ts';
import { finishSwaps } from '../database/swap-database.ts';
import type { Repair } from './losses.ts';
import { repairDatabase } from './repair-database.ts';

/** How long others may take to leave the file. They do so before their next call. */
const LEAVE_MS_MAX = 3_000;

export interface MendDeps {
  file: string;
  migrationsDir: string;
  connect: Connect;
}

/** Tells whether a file has been replaced by another one. Null: there is none. */
export function fileIdentity(file: string): string | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

/**
 * Repairs a damaged database that this process has closed. Asks the other processes that use it to leave, and repairs it alone.
 * Returns null if another process has replaced it meanwhile. Throws `store_damaged` if others do not leave, and errors of SQLite and
 * the file system.
 */
export function mendDatabase({ file, ...deps }: MendDeps, damaged: string | null): Repair | null {
  const alone = whileOthersLeave(file, () => enterGateAlone({ file, ...deps }, LEAVE_MS_MAX));
  if (alone === null) throw new StoreError('store_damaged', `${file} is damaged and cannot be repaired now: ${inUse(file).message}`);
  try {
    finishSwaps(file);
    return fileIdentity(file) === damaged ? repairDatabase({ file, ...deps, onProgress: () => {} }) : null;
  } finally {
    alone.leave();
  }
}
