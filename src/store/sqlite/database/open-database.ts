import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { processTag } from '../../../base/files/process-tag.ts';
import type { Log } from '../../../base/log.ts';
import { makeFolderSync } from '../../../base/paths/make-folder.ts';
import { makePrivate } from '../../../base/paths/make-private.ts';
import { hasErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import { FileDamage, isReadOnly, newer } from '../connect/as-store-error.ts';
import { isSafeSqlite, SQLITE_VERSION_MIN } from '../connect/is-safe-sqlite.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { hasForeignWal, setAsideForeignWal } from '../wal/set-aside-foreign-wal.ts';
import { copyDatabase, databaseStamp } from './copy-database.ts';
import { createDraft } from './create-draft.ts';
import { databaseVersion } from './database-version.ts';
import { enterGate, enterGateAlone, type Gate, type GateDeps, inUse } from './gate.ts';
import { migrate, SCHEMA_VERSION } from './migrate.ts';
import { finishSwaps, isSwapPending } from './swap-database.ts';
import { syncFile, syncFolder } from './sync-file.ts';

export interface DatabasePlaces {
  /**
   * The database file. Its folder is made if it is missing, and also has the lock files of live
   * writers.
   */
  file: string;
  /** The package's `migrations` folder. */
  migrationsDir: string;
  /** The folder for a copy of a database that cannot be read in its own folder. */
  tempDir: string;
}

export interface DatabaseFiles extends DatabasePlaces {
  connect: Connect;
  log: Log;
}

export interface OpenedDatabase {
  db: Database;
  /**
   * Whether writes would be lost, because it is a copy, or an empty replacement for a database that
   * could not be created.
   */
  readOnly: boolean;
  /** Whether it must be opened again, because it was closed or its original has changed. */
  isOutdated(): boolean;
  /** Closes the database, and lets others be alone with its file. */
  close(): void;
}

/** How long opening waits for a process that is alone with the file. */
const GATE_WAIT_MS = 5_000;
/**
 * A write that finds a WAL of this length runs a checkpoint. A shorter WAL waits for an idle
 * moment.
 */
const WAL_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Opens the database; makes it if it is missing. If it cannot be written, opens a copy of it.
 * Returns `current` if that is already an up-to-date copy.
 */
export function openDatabase(
  files: DatabaseFiles,
  current: OpenedDatabase | null = null,
): OpenedDatabase {
  try {
    return openInPlace(files);
  } catch (error) {
    if (!isReadOnly(error, files.file)) throw error;
    return current?.readOnly === true && !current.isOutdated() ? current : openCopy(files);
  }
}

function openInPlace(files: DatabaseFiles): OpenedDatabase {
  if (existsSync(files.file)) assertWritable(files.file);
  const gate = enterInOrder(files);
  try {
    if (!existsSync(files.file)) createDatabase(files);
    // Before SQLite makes the files beside it, which inherit its mode.
    for (const end of ['', '-wal', '-shm']) makePrivate(files.file + end);
    const db = open(files, files.file);
    const close = () => {
      db.close();
      gate.leave();
    };
    return { db, readOnly: false, isOutdated: () => !db.open, close };
  } catch (error) {
    gate.leave();
    throw error;
  }
}

/**
 * Enters the gate, once the database is complete and has no WAL of another file: a process may have
 * died while it replaced it, and a person may have replaced it by a copy. Throws `store_failed`,
 * and errors of the file system.
 */
export function enterInOrder(deps: GateDeps & { log: Log }): Gate {
  const { file, log } = deps;
  const gate = enterGate(deps, GATE_WAIT_MS);
  if (!isSwapPending(file) && !hasForeignWal(file)) return gate;
  gate.leave();
  const alone = enterGateAlone(deps, GATE_WAIT_MS);
  if (alone === null) throw inUse(file);
  try {
    putInOrder(file, log);
  } finally {
    alone.leave();
  }
  return enterInOrder(deps);
}

/**
 * Finishes what a process that has died had begun, and sets the WAL of another file aside. Call it
 * alone in the gate.
 */
export function putInOrder(file: string, log: Log): void {
  finishSwaps(file);
  setAsideForeignWal(file, log);
}

/** Opens an empty database in memory. */
export function openInMemory({ connect, migrationsDir }: DatabaseFiles): Database {
  const db = connect(':memory:');
  migrate(db, migrationsDir);
  // Histories in memory can have logs of the file, which foreign keys cannot reach.
  db.pragma('foreign_keys = OFF');
  return db;
}

/**
 * For a database that cannot be written, SQLite makes files that cannot be written either, even
 * once the database can be.
 */
function assertWritable(file: string): void {
  // If they exist, do not open the file: closing it would drop the locks of this process's other
  // connections to it.
  if (!existsSync(`${file}-shm`)) closeSync(openSync(file, 'r+'));
}

function open({ file, migrationsDir, connect }: DatabaseFiles, path: string): Database {
  // SQLite would treat an empty file as a new database.
  if (statSync(path).size === 0) throw new FileDamage('it is empty');
  const db = connect(path, { fileMustExist: true, timeout: 0 });
  try {
    configure(db);
    const version = databaseVersion(db);
    if (version > SCHEMA_VERSION) throw newer(file, version, SCHEMA_VERSION);
    if (version < SCHEMA_VERSION) migrate(db, migrationsDir);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a copy, because SQLite reads a database in WAL mode only if it can write files beside it.
 */
function openCopy(files: DatabaseFiles): OpenedDatabase {
  const stamp = databaseStamp(files.file);
  const isOutdated = () => databaseStamp(files.file) !== stamp;
  if (!existsSync(files.file)) return openedCopy(openInMemory(files), isOutdated);
  const folder = mkdtempSync(join(files.tempDir, `heddle-read-only-${processTag()}-`));
  try {
    return openedCopy(open(files, copyDatabase(files.file, folder)), isOutdated);
  } finally {
    // The open files stay readable without their names, and are removed when this process ends,
    // however it ends.
    removeIfPossible(folder);
  }
}

function openedCopy(db: Database, isOutdated: () => boolean): OpenedDatabase {
  return { db, readOnly: true, isOutdated, close: () => db.close() };
}

/**
 * Windows does not remove open files: there the copy stays until the folder for temporary files is
 * cleared.
 */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!hasErrorCode(error, ['EBUSY', 'EPERM', 'ENOTEMPTY'])) throw error;
  }
}

/**
 * Makes the database under another name, and links it to its own name once it is complete. So an
 * empty or incomplete database is always a damaged one. If two processes do this at once, the first
 * one wins.
 */
function createDatabase({ file, migrationsDir, connect }: DatabaseFiles): void {
  makeFolderSync(dirname(file), 0o700);
  assertNoOrphan(file);
  const draft = `${file}.${processTag()}-${randomUUID()}.new`;
  try {
    createDraft(draft, { migrationsDir, connect });
    syncFile(draft);
    linkDraft(draft, file);
    syncFolder(dirname(file));
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
  }
}

/** SQLite would apply the WAL of a missing database to a new database of its name. */
function assertNoOrphan(file: string): void {
  const orphan = `${file}-wal`;
  const size = statSync(orphan, { throwIfNoEntry: false })?.size ?? 0;
  // Checked again, because another process may just have made the database.
  if (size > 0 && !existsSync(file))
    throw new FileDamage(`it is missing, but ${orphan}, which belongs to it, exists`);
}

function linkDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch {
    // Another process was first, or the file system has no hard links.
    if (!existsSync(file)) copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

function configure(db: Database): void {
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get());
  if (!isSafeSqlite(version)) {
    throw new StoreError(
      'store_failed',
      `SQLite ${version} is too old: heddle needs ${SQLITE_VERSION_MIN} or later`,
    );
  }
  db.pragma('synchronous = NORMAL');
  db.pragma('foreign_keys = ON');
  db.pragma('cell_size_check = ON');
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.pragma(`wal_autocheckpoint = ${Math.ceil(WAL_BYTES_MAX / pageBytes)}`);
  db.pragma(`journal_size_limit = ${WAL_BYTES_MAX}`);
}
