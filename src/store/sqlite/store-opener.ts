import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import { WRITERS_FOLDER } from '../../base/files/own-file.ts';
import { isFileDamage } from './connect/as-store-error.ts';
import { fileIdentity } from './database/file-identity.ts';
import { Leases } from './database/leases.ts';
import { type DatabaseFiles, type OpenedDatabase, openDatabase } from './database/open-database.ts';
import { StoreWatch, type StoreWatchOptions } from './database/store-watch.ts';
import { ThreadDatabase } from './database/thread-database.ts';
import { HeldLogs } from './history/held-logs.ts';
import type { LongTexts } from './history/long-texts.ts';
import { describeRepair } from './maintenance/lost-records.ts';
import { repairDatabase } from './maintenance/repair-database.ts';

export interface OpenStoreOptions extends DatabaseFiles {
  clock: Clock;
  pid: number;
  /** Called with a text for the user when a damaged database has been repaired. */
  onRepaired: (message: string) => void;
  /** Values that are read and written have stand-ins for long texts. Absent: they are whole. */
  longTexts?: LongTexts;
}

/** A database, and what works on it. */
export interface OpenedStore {
  opened: OpenedDatabase;
  disk: ThreadDatabase;
  leases: Leases;
  /** Null: the database can only be read. */
  watch: StoreWatch | null;
}

/**
 * A process repairs the database no more often than this. If it does not help, the disk is to
 * blame.
 */
const REPAIRS_MAX = 3;

/** Opens the database of a process, and repairs it if it is damaged. */
export class StoreOpener {
  readonly #options: OpenStoreOptions;
  #repairs = 0;

  constructor(options: OpenStoreOptions) {
    this.#options = options;
  }

  /**
   * Opens the database. If it is damaged, repairs it before. Throws errors of SQLite and the file
   * system, and StoreErrors.
   */
  open(): OpenedStore {
    const damaged = fileIdentity(this.#options.file);
    try {
      return openedStore(openDatabase(this.#options), this.#options);
    } catch (error) {
      if (!isFileDamage(error)) throw error;
      return this.openRepaired(error, damaged);
    }
  }

  /**
   * Opens the database again, if it is outdated or may have become writable. Returns null if
   * `before` still holds.
   */
  reopen(before: OpenedDatabase): OpenedStore | null {
    const opened = openDatabase(this.#options, before);
    return opened === before ? null : openedStore(opened, this.#options);
  }

  /**
   * Repairs the file with this identity, which is closed and in which `error` found the damage, and
   * opens the new one.
   */
  openRepaired(error: unknown, damaged: string | null): OpenedStore {
    if (this.#repairs >= REPAIRS_MAX) throw error;
    this.#repairs++;
    const { file, log, onRepaired } = this.#options;
    const repair = repairDatabase(this.#options, damaged);
    if (repair !== null) {
      log.warn({ err: error, ...repair }, 'the database was damaged and has been repaired');
      onRepaired(`${file} was damaged and has been repaired: ${describeRepair(repair)}`);
    }
    return openedStore(openDatabase(this.#options), this.#options);
  }
}

function openedStore(
  opened: OpenedDatabase,
  { file, pid, clock, connect, log, longTexts }: OpenStoreOptions,
): OpenedStore {
  const { db } = opened;
  try {
    const disk = new ThreadDatabase(db, { inMemory: false, log, ...(longTexts && { longTexts }) });
    const held = new HeldLogs(db, disk.discarded);
    const leases = new Leases(db, {
      folder: join(dirname(file), WRITERS_FOLDER),
      pid,
      connect,
      held,
    });
    return {
      opened,
      disk,
      leases,
      watch: opened.readOnly ? null : watchOf(db, { file, clock, log }),
    };
  } catch (error) {
    opened.close();
    throw error;
  }
}

function watchOf(db: Database, options: Omit<StoreWatchOptions, 'db'>): StoreWatch {
  // Some copies of a database, such as those of VACUUM INTO, are in another mode.
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') db.pragma('journal_mode = WAL');
  return new StoreWatch({ ...options, db });
}

/** Closes the database and what works on it. */
export function closeStore({ opened, leases, watch }: OpenedStore): void {
  leases.close();
  watch?.close();
  opened.close();
}
