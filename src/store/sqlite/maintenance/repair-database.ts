import { StoreError } from '../../store-error.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { fileIdentity } from '../database/file-identity.ts';
import { enterGateAlone, type Gate, inUse, whileOthersLeave } from '../database/gate.ts';
import { finishSwaps } from '../database/swap-database.ts';
import type { Repair } from './lost-records.ts';
import { rebuildDatabase } from './rebuild-database.ts';

/**
 * How long others may take to leave the file, in tries of this length. They are asked anew at each
 * of them.
 */
const TRY_MS = 200;
const TRIES_MAX = 15;

export interface RepairDeps {
  file: string;
  migrationsDir: string;
  connect: Connect;
}

/**
 * Repairs a damaged database that this process has closed. Asks the other processes that use it to
 * leave, and repairs it alone. Returns null if another process has replaced it meanwhile. Throws
 * `store_damaged` if others do not leave, and errors of SQLite and the file system.
 */
export function repairDatabase(
  { file, ...deps }: RepairDeps,
  damaged: string | null,
): Repair | null {
  let alone: Gate | null = null;
  // Others may want to repair it, too, so each try looks whether one of them has done so.
  for (let tries = 0; alone === null; tries++) {
    if (tries === TRIES_MAX)
      throw new StoreError(
        'store_damaged',
        `${file} is damaged and cannot be repaired now: ${inUse(file).message}`,
      );
    alone = whileOthersLeave(file, () => enterGateAlone({ file, ...deps }, TRY_MS));
    if (alone === null && fileIdentity(file) !== damaged) return null;
  }
  try {
    finishSwaps(file);
    return fileIdentity(file) === damaged
      ? rebuildDatabase({ file, ...deps, onProgress: () => {} })
      : null;
  } finally {
    alone.leave();
  }
}
