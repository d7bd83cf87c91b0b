import { randomUUID } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../base/log.ts';
import { hasErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import { asStoreError, isFileDamage } from '../connect/as-store-error.ts';
import { type Connect, loadSqlite } from '../connect/load-sqlite.ts';
import type { NodeVersions } from '../connect/native-build-problem.ts';
import { FILE_FORMAT } from '../database/create-draft.ts';
import { fileIdentity } from '../database/file-identity.ts';
import { enterGateAlone, type Gate, inUse } from '../database/gate.ts';
import { enterInOrder, putInOrder } from '../database/open-database.ts';
import { swapDatabase } from '../database/swap-database.ts';
import { syncFile, syncFolder } from '../database/sync-file.ts';
import { databaseFindings } from './database-findings.ts';
import type { Repair } from './lost-records.ts';
import { rebuildDatabase } from './rebuild-database.ts';
import { removeDraft } from './remove-draft.ts';
import { sealCopy } from './seal-copy.ts';

export interface MaintenanceOptions {
  /** The database file. */
  file: string;
  migrationsDir: string;
  /** `process.versions`. */
  nodeVersions: NodeVersions;
  log: Log;
  /** Called with what is done now, such as `copying 40 %`. */
  onProgress: (text: string) => void;
}

const PAGES_AT_ONCE = 2_000;

/**
 * Keeps a store in order while no server runs on it, or beside servers where that is possible. All
 * methods reject with StoreErrors. A kill at any moment leaves the database and the backup
 * complete, as they were before or as they are after.
 */
export class StoreMaintenance {
  readonly #options: MaintenanceOptions;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Returns what is wrong with the database, one sentence each. Works beside running servers. */
  async check(): Promise<string[]> {
    return this.#guard(async (connect) => {
      const gate = this.#enter(connect);
      try {
        this.#options.onProgress('checking');
        return databaseFindings(this.#existing(), connect);
      } finally {
        gate.leave();
      }
    });
  }

  /**
   * Writes a copy of the database to a new file, which gets its name once it is complete and
   * checked. Works beside running servers: the copy is the state at its start. Refuses a file that
   * exists.
   */
  async backUp(target: string): Promise<{ bytes: number; threads: number }> {
    return this.#guard(async (connect) => {
      assertFree(target);
      const gate = this.#enter(connect);
      const draft = `${target}.${randomUUID()}.part`;
      try {
        await this.#copyTo(draft, connect);
        this.#options.onProgress('checking the copy');
        const threads = sealCopy(draft, {
          connect,
          mode: 'DELETE',
          ...this.#options,
          ifDamaged: damagedSo('no backup was made'),
        });
        giveName(draft, target);
        return { bytes: statSync(target).size, threads };
      } finally {
        removeDraft(draft);
        gate.leave();
      }
    }, target);
  }

  /**
   * Replaces the database by a copy of a backup, and keeps the old one beside it. Refused while a
   * server runs.
   */
  async restore(backup: string): Promise<{ threads: number; setAside: string | null }> {
    return this.#alone(async (connect) => {
      const { file, onProgress } = this.#options;
      assertBackup(backup, file);
      const draft = `${file}.${randomUUID()}.new`;
      try {
        onProgress('copying');
        closeSync(openSync(draft, 'wx', 0o600));
        for (const end of ['', '-wal'])
          if (existsSync(backup + end)) copyFileSync(backup + end, draft + end);
        onProgress('checking the copy');
        const threads = sealCopy(draft, {
          connect,
          mode: 'WAL',
          ...this.#options,
          shownAs: backup,
          ifDamaged: `${backup} is damaged, so it was not restored`,
        });
        return { threads, setAside: swapDatabase(file, draft, 'replaced') };
      } finally {
        removeDraft(draft);
      }
    });
  }

  /**
   * Replaces a damaged database by a new one with all that can be read, and keeps the damaged one
   * beside it. Returns null if nothing is wrong. Refused while a server runs.
   */
  async repair(): Promise<Repair | null> {
    return this.#alone(async (connect) => {
      const { file, migrationsDir, onProgress } = this.#options;
      onProgress('checking');
      if (databaseFindings(this.#existing(), connect).length === 0) return null;
      return rebuildDatabase({
        file,
        migrationsDir,
        connect,
        onProgress: (table) => onProgress(`copying ${table}`),
      });
    });
  }

  /**
   * Writes the database anew without its free space, in the current format of files. Refused while
   * a server runs.
   */
  async vacuum(): Promise<{ bytesBefore: number; bytesAfter: number }> {
    return this.#alone(async (connect) => {
      const file = this.#existing();
      const draft = `${file}.${randomUUID()}.new`;
      try {
        closeSync(openSync(draft, 'wx', 0o600));
        const bytesBefore = this.#compactInto(draft, connect);
        this.#options.onProgress('checking the copy');
        sealCopy(draft, {
          connect,
          mode: 'WAL',
          ...this.#options,
          ifDamaged: damagedSo('it was not compacted'),
        });
        const old = swapDatabase(file, draft, 'replaced');
        if (old !== null) removeDraft(old);
        return { bytesBefore, bytesAfter: statSync(file).size };
      } finally {
        removeDraft(draft);
      }
    });
  }

  /** Copies one state of the database, whatever other processes write meanwhile. */
  async #copyTo(draft: string, connect: Connect): Promise<void> {
    closeSync(openSync(draft, 'wx', 0o600));
    const db = connect(this.#existing(), { readonly: true, fileMustExist: true });
    try {
      db.exec('BEGIN; SELECT count(*) FROM sqlite_master');
      await db.backup(draft, {
        progress: ({ totalPages, remainingPages }) => {
          this.#options.onProgress(
            `copying ${Math.floor((100 * (totalPages - remainingPages)) / Math.max(1, totalPages))} %`,
          );
          return PAGES_AT_ONCE;
        },
      });
    } finally {
      db.close();
    }
  }

  /** Returns the size of the database without its WAL. */
  #compactInto(draft: string, connect: Connect): number {
    const file = this.#existing();
    const db = connect(file, { fileMustExist: true });
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      this.#options.onProgress('compacting');
      db.exec(FILE_FORMAT);
      db.prepare('VACUUM INTO ?').run(draft);
      return statSync(file).size;
    } finally {
      db.close();
    }
  }

  #enter(connect: Connect): Gate {
    const { file, log } = this.#options;
    if (!existsSync(dirname(file))) this.#existing();
    return enterInOrder({ file, connect, log });
  }

  #existing(): string {
    const { file } = this.#options;
    if (!existsSync(file))
      throw new StoreError('store_failed', `${file} does not exist: there is no store yet`);
    return file;
  }

  #alone<T>(work: (connect: Connect) => Promise<T>): Promise<T> {
    const { file, log } = this.#options;
    return this.#guard(async (connect) => {
      if (!existsSync(dirname(file)))
        throw new StoreError('store_failed', `${dirname(file)} does not exist`);
      const gate = enterGateAlone({ file, connect }, 0);
      if (gate === null) throw inUse(file);
      try {
        putInOrder(file, log);
        return await work(connect);
      } finally {
        gate.leave();
      }
    });
  }

  /** Errors name `written`, unless they say that the database is damaged. */
  async #guard<T>(
    work: (connect: Connect) => Promise<T>,
    written = this.#options.file,
  ): Promise<T> {
    try {
      return await work(await loadSqlite(this.#options.nodeVersions));
    } catch (error) {
      throw asStoreError(error, isFileDamage(error) ? this.#options.file : written);
    }
  }
}

function damagedSo(consequence: string): string {
  return `the database is damaged, so ${consequence}: run 'heddle store repair'`;
}

function assertFree(target: string): void {
  if (existsSync(target))
    throw new StoreError('store_failed', `${target} exists: name a new file for the backup`);
  if (!existsSync(dirname(target)))
    throw new StoreError('store_failed', `${dirname(target)} does not exist`);
}

function assertBackup(backup: string, file: string): void {
  if (!statSync(backup, { throwIfNoEntry: false })?.isFile())
    throw new StoreError('store_failed', `${backup} is not a file`);
  if (fileIdentity(backup) === fileIdentity(file))
    throw new StoreError('store_failed', `${backup} is the database itself`);
}

/** Gives a complete file its name, without replacing another one. */
function giveName(draft: string, target: string): void {
  syncFile(draft);
  try {
    linkSync(draft, target);
  } catch (error) {
    if (hasErrorCode(error, ['EEXIST'])) assertFree(target);
    // The file system has no hard links.
    assertFree(target);
    renameSync(draft, target);
  }
  syncFolder(dirname(target));
}
