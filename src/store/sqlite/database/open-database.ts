import { randomUUID } from 'node:crypto';
import { closeSync, constants, copyFileSync, existsSync, fsyncSync, linkSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { makeFolderSync } from '../../../base/make-folder.ts';
import { makePrivate } from '../../../base/make-private.ts';
import { StoreError } from '../../store-error.ts';
import { Damage, isReadOnly, newer } from '../as-store-error.ts';
import { copyDatabase, databaseStamp } from './copy-database.ts';
import type { Connect } from './load-sqlite.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from './migrate.ts';

export interface DatabaseFiles {
  file: string;
  /** The folder of `0001_….sql` and so on. */
  migrationsDir: string;
  /** Where a copy of a database goes that cannot be read where it lies. */
  tempDir: string;
  connect: Connect;
}

export interface OpenedDatabase {
  db: Database;
  /** Whether writes would go nowhere: it is a copy, or stands for a database that could not be made. */
  readOnly: boolean;
  /** Whether it has to be opened again: it was closed, or what it is a copy of has changed. */
  isOutdated(): boolean;
}

const APPLICATION_ID = 0x6865646c;
/** Earlier versions of SQLite can corrupt a WAL file that has several writers. */
const SQLITE_VERSION_MIN = '3.51.3';
const BUSY_TIMEOUT_MS = 5_000;
/** A WAL that has grown so long is taken up by the write that finds it so; a shorter one waits for an idle moment. */
const WAL_PAGES_MAX = 4_000;
const WAL_BYTES_KEPT_MAX = 16 * 1024 * 1024;

/**
 * Opens the database, new where there is none. One that cannot be opened where it lies, since it cannot be written, is
 * copied; a copy that there is already is given back while it is good.
 */
export function openDatabase(files: DatabaseFiles, current: OpenedDatabase | null = null): OpenedDatabase {
  try {
    if (!existsSync(files.file)) createDatabase(files);
    assertWritable(files.file);
    // Before SQLite makes the files beside it, which get its mode.
    for (const end of ['', '-wal', '-shm']) makePrivate(files.file + end);
    const db = open(files, files.file);
    return { db, readOnly: false, isOutdated: () => !db.open };
  } catch (error) {
    if (!isReadOnly(error, files.file)) throw error;
    return current?.readOnly === true && !current.isOutdated() ? current : openCopy(files);
  }
}

/** An empty database that no file holds. */
export function openInMemory({ connect, migrationsDir }: DatabaseFiles): Database {
  const db = connect(':memory:');
  migrate(db, migrationsDir);
  // Histories in memory hold logs of the file, which no foreign key can reach.
  db.pragma('foreign_keys = OFF');
  return db;
}

/** Beside a database that cannot be written SQLite makes files that cannot be written either, and stay when it can. */
function assertWritable(file: string): void {
  // A connection that is open has made them already, and would lose its locks if this process had it and closed the file.
  if (!existsSync(`${file}-shm`)) closeSync(openSync(file, 'r+'));
}

function open({ file, migrationsDir, connect }: DatabaseFiles, path: string): Database {
  // SQLite takes an empty file for a new database.
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

/** SQLite reads a database in WAL mode only where it can write beside it. */
function openCopy(files: DatabaseFiles): OpenedDatabase {
  const stamp = databaseStamp(files.file);
  const isOutdated = () => databaseStamp(files.file) !== stamp;
  if (!existsSync(files.file)) return { db: openInMemory(files), readOnly: true, isOutdated };
  const folder = mkdtempSync(join(files.tempDir, 'heddle-read-only-'));
  try {
    return { db: open(files, copyDatabase(files.file, folder)), readOnly: true, isOutdated };
  } finally {
    // Open files can be read without their names, and go with this process, however it dies.
    removeIfPossible(folder);
  }
}

/** Windows lets nobody remove a file that is open: there the copy stays until the folder for temporary files is cleared. */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!['EBUSY', 'EPERM', 'ENOTEMPTY'].includes(String((error as { code?: unknown }).code))) throw error;
  }
}

/**
 * Makes the database under another name and puts it in place when it is whole, so that an empty or a half database is
 * never one in the making. Another process may do the same: the first one wins.
 */
function createDatabase({ file, migrationsDir, connect }: DatabaseFiles): void {
  makeFolderSync(dirname(file), 0o700);
  assertNoOrphan(file);
  const draft = `${file}.${randomUUID()}.new`;
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
    putInPlace(draft, file);
    syncFolder(dirname(file));
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
  }
}

/** The log of a database that is gone would be replayed into a new one of its name. */
function assertNoOrphan(file: string): void {
  const orphan = `${file}-wal`;
  const size = statSync(orphan, { throwIfNoEntry: false })?.size ?? 0;
  // Looked at again, since another process may just have put a database there.
  if (size > 0 && !existsSync(file)) throw new Damage(`it is missing, while ${orphan}, which belongs to it, is there`);
}

function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch {
    // Another process was first, or this file system has no hard links.
    if (!existsSync(file)) copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** Windows cannot open a folder, and needs no such thing: there a name is on disk with its file. */
function syncFolder(path: string): void {
  try {
    sync(path, 'r');
  } catch (error) {
    if (!['EISDIR', 'EPERM'].includes(String((error as { code?: unknown }).code))) throw error;
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
  if (version === 0 || db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw new Damage('it is not a database of heddle');
  return version;
}
