import { randomUUID } from 'node:crypto';
import { closeSync, constants, copyFileSync, existsSync, fsyncSync, linkSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { makeFolderSync } from '../../../base/paths/make-folder.ts';
import { makePrivate } from '../../../base/paths/make-private.ts';
import { processTag } from '../../../base/process-tag.ts';
import { hasErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import { Damage, isReadOnly, newer } from '../as-store-error.ts';
import { copyDatabase, databaseStamp } from './copy-database.ts';
import type { Connect } from './load-sqlite.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from './migrate.ts';

export interface DatabaseFiles {
  file: string;
  /** The folder of the files `0001_….sql` and so on. */
  migrationsDir: string;
  /** The folder for a copy of a database that cannot be read in its own folder. */
  tempDir: string;
  connect: Connect;
}

export interface OpenedDatabase {
  db: Database;
  /** Whether writes would be lost, because it is a copy, or an empty replacement for a database that could not be created. */
  readOnly: boolean;
  /** Whether it must be opened again, because it was closed or its original has changed. */
  isOutdated(): boolean;
}

const APPLICATION_ID = 0x6865646c;
/** Earlier versions of SQLite can corrupt a WAL file that has several writers. */
const SQLITE_VERSION_MIN = '3.51.3';
const BUSY_TIMEOUT_MS = 5_000;
/** A write that finds a WAL of this length runs a checkpoint. A shorter WAL waits for an idle moment. */
const WAL_PAGES_MAX = 4_000;
const WAL_BYTES_KEPT_MAX = 16 * 1024 * 1024;

/**
 * Opens the database; makes it if it is missing. If it cannot be written, opens a copy of it. Returns `current` if that is
 * already an up-to-date copy.
 */
export function openDatabase(files: DatabaseFiles, current: OpenedDatabase | null = null): OpenedDatabase {
  try {
    if (!existsSync(files.file)) createDatabase(files);
    assertWritable(files.file);
    // Before SQLite makes the files beside it, which inherit its mode.
    for (const end of ['', '-wal', '-shm']) makePrivate(files.file + end);
    const db = open(files, files.file);
    return { db, readOnly: false, isOutdated: () => !db.open };
  } catch (error) {
    if (!isReadOnly(error, files.file)) throw error;
    return current?.readOnly === true && !current.isOutdated() ? current : openCopy(files);
  }
}

/** Opens an empty database in memory. */
export function openInMemory({ connect, migrationsDir }: DatabaseFiles): Database {
  const db = connect(':memory:');
  migrate(db, migrationsDir);
  // Histories in memory can have logs of the file, which foreign keys cannot reach.
  db.pragma('foreign_keys = OFF');
  return db;
}

/** For a database that cannot be written, SQLite makes files that cannot be written either, even once the database can be. */
function assertWritable(file: string): void {
  // If they exist, do not open the file: closing it would drop the locks of this process's other connections to it.
  if (!existsSync(`${file}-shm`)) closeSync(openSync(file, 'r+'));
}

function open({ file, migrationsDir, connect }: DatabaseFiles, path: string): Database {
  // SQLite would treat an empty file as a new database.
  if (statSync(path).size === 0) throw new Damage('it is empty');
  const db = connect(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
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

/** Opens a copy, because SQLite reads a database in WAL mode only if it can write files beside it. */
function openCopy(files: DatabaseFiles): OpenedDatabase {
  const stamp = databaseStamp(files.file);
  const isOutdated = () => databaseStamp(files.file) !== stamp;
  if (!existsSync(files.file)) return { db: openInMemory(files), readOnly: true, isOutdated };
  const folder = mkdtempSync(join(files.tempDir, `heddle-read-only-${processTag()}-`));
  try {
    return { db: open(files, copyDatabase(files.file, folder)), readOnly: true, isOutdated };
  } finally {
    // The open files stay readable without their names, and are removed when this process ends, however it ends.
    removeIfPossible(folder);
  }
}

/** Windows does not remove open files: there the copy stays until the folder for temporary files is cleared. */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!hasErrorCode(error, ['EBUSY', 'EPERM', 'ENOTEMPTY'])) throw error;
  }
}

/**
 * Makes the database under another name, and links it to its own name once it is complete. So an empty or incomplete database
 * is always a damaged one. If two processes do this at once, the first one wins.
 */
function createDatabase({ file, migrationsDir, connect }: DatabaseFiles): void {
  makeFolderSync(dirname(file), 0o700);
  assertNoOrphan(file);
  const draft = `${file}.${processTag()}-${randomUUID()}.new`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const db = connect(draft);
    try {
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = OFF');
      migrate(db, migrationsDir);
    } finally {
      db.close();
    }
    sync(draft, 'r+');
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
  if (size > 0 && !existsSync(file)) throw new Damage(`it is missing, but ${orphan}, which belongs to it, exists`);
}

function linkDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch {
    // Another process was first, or the file system has no hard links.
    if (!existsSync(file)) copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** Windows cannot open a folder and does not need to: there a file's name is on disk with the file. */
function syncFolder(path: string): void {
  try {
    sync(path, 'r');
  } catch (error) {
    if (!hasErrorCode(error, ['EISDIR', 'EPERM'])) throw error;
  }
}

function sync(path: string, mode: 'r' | 'r+'): void {
  const descriptor = openSync(path, mode);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function configure(db: Database): void {
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get());
  if (versionNumber(version) < versionNumber(SQLITE_VERSION_MIN)) {
    throw new StoreError('store_failed', `SQLite ${version} is too old: heddle needs ${SQLITE_VERSION_MIN} or later`);
  }
  db.pragma('synchronous = NORMAL');
  db.pragma('foreign_keys = ON');
  db.pragma('cell_size_check = ON');
  db.pragma(`wal_autocheckpoint = ${WAL_PAGES_MAX}`);
  db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT_MAX}`);
}

/** 3.51.3 is 3,051,003. */
function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch;
}

function databaseVersion(db: Database): number {
  const version = schemaVersion(db);
  if (version === 0 || db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw new Damage('it is not a heddle database');
  return version;
}
