import { type Stats, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../../base/clock.ts';
import { namesInProc } from '../../../base/files/read-proc.ts';
import type { Log } from '../../../base/log.ts';
import { StoreError } from '../../store-error.ts';
import { ownsWal, pagesOf } from '../wal/set-aside-foreign-wal.ts';
import { markOf } from '../wal/wal-mark.ts';
import { WalMarker } from '../wal/wal-marker.ts';
import { fileIdentity, identityOf } from './file-identity.ts';
import { findOwnLock, isHeld, type OwnLock } from './own-lock.ts';

/** The locks are looked at after this time, if the store is used. */
const LOCKS_MS = 1_000;
/** A page can be half written. */
const LOOKS = 3;
/** The files that a process with an open database has locked or writes to. */
const ENDS = ['', '-wal', '-shm'];
/**
 * The byte that SQLite keeps locked in a -shm file while it is open, and the first one that it
 * keeps locked in other files.
 */
const SHM_BYTE = 128;
const SHARED_BYTE = 0x40000002;

export interface StoreWatchOptions {
  /** The database file, which is open. */
  file: string;
  clock: Clock;
  log: Log;
  db: Database;
}

/**
 * Watches an open database: whether its files are still at their paths, and whether this process
 * still holds its locks on them. Where they are not, what SQLite commits is lost, though SQLite
 * does not notice.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  /** The identities of the open files, by their paths. */
  readonly #files: ReadonlyMap<string, string>;
  /**
   * The locks on the files that are locked for good, by the paths of the files. Empty where the
   * system does not show the locks.
   */
  readonly #locks = new Map<string, OwnLock>();
  #locksSeenMs: number;
  #told: string | null = null;
  #mayRescue = false;
  readonly #marker: WalMarker;
  /** When the database was written at the last look. */
  #writtenAtMs: number | null = null;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    const { file, clock } = options;
    const found = ENDS.map((end) => [file + end, fileIdentity(file + end)] as const);
    this.#files = new Map(
      found.flatMap(([path, identity]) => (identity === null ? [] : [[path, identity]])),
    );
    this.#locksSeenMs = clock.monotonic();
    this.holds(file, `${file}-shm`);
    this.#marker = new WalMarker(options.db, file);
  }

  /** Call it after each commit. */
  committed(): void {
    this.#marker.committed();
  }

  /** Call it before the database is closed. */
  close(): void {
    this.#marker.close();
  }

  /**
   * From now on this process has the files locked. Does nothing where the system does not show the
   * locks.
   */
  holds(...paths: readonly string[]): void {
    for (const path of paths) {
      const inode = look(path)?.ino;
      const lock =
        inode === undefined
          ? null
          : findOwnLock(inode, path.endsWith('-shm') ? SHM_BYTE : SHARED_BYTE);
      if (lock !== null) this.#locks.set(path, lock);
    }
  }

  /**
   * Throws `store_failed` if what is committed now would be lost, and says so in the log once. Call
   * it within each transaction that writes.
   */
  assertKept(): void {
    const problem = this.#misplaced() ?? this.#unlocked();
    if (problem === null) {
      if (this.#told !== null)
        this.#options.log.warn({ file: this.#options.file }, 'the database is in its place again');
      this.#told = null;
      return;
    }
    const error = new StoreError('store_failed', problem);
    if (this.#told !== problem) this.#options.log.error({ err: error }, 'nothing more is stored');
    this.#told = problem;
    throw error;
  }

  /**
   * Call it after a transaction that failed. Moves the WAL into the database if the WAL was deleted
   * and nobody has made a new one.
   */
  rescue(): void {
    if (!this.#mayRescue) return;
    this.#mayRescue = false;
    try {
      this.#options.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (error) {
      this.#options.log.error(
        { err: error },
        'what was in the deleted WAL could not be moved into the database',
      );
    }
  }

  #misplaced(): string | null {
    const { file } = this.#options;
    for (const [path, open] of this.#files) {
      const stats = look(path);
      if (stats === undefined) return path === file ? gone(file) : this.#incomplete(path);
      if (identityOf(stats) !== open) return replaced(path, file);
      if (path === file && stats.size === 0) return emptied(file);
      if (path === file && this.#isOverwritten(stats)) return overwritten(file);
    }
    return null;
  }

  /**
   * Whether another database was copied over the file. Only checkpoints write to it, and they keep
   * its mark.
   */
  #isOverwritten({ mtimeMs }: Stats): boolean {
    if (mtimeMs === this.#writtenAtMs) return false;
    const { file } = this.#options;
    const descriptor = descriptorOf(file);
    if (descriptor === null) return false;
    const readPage = pagesOf(descriptor);
    for (let looks = 0; looks < LOOKS; looks++) {
      const mark = markOf(readPage);
      const isKnown = typeof mark === 'object' && mark !== null && this.#marker.knows(mark.token);
      if (!isKnown && !ownsWal(readPage, `${file}-wal`)) continue;
      this.#writtenAtMs = mtimeMs;
      return false;
    }
    return true;
  }

  #incomplete(path: string): string {
    const { file } = this.#options;
    const text = `${path} was deleted while heddle had it open, so ${file} cannot be written: restart heddle`;
    const hasNew = [...this.#files].some(
      ([other, open]) => ![null, open].includes(fileIdentity(other)),
    );
    this.#mayRescue = this.#told !== text && !hasNew;
    return text;
  }

  #unlocked(): string | null {
    const { clock, file } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs - this.#locksSeenMs < LOCKS_MS) return null;
    for (const [path, lock] of this.#locks) {
      // Another connection of this process may have taken the lock meanwhile.
      const current = isHeld(lock) ? lock : findOwnLock(lock.inode, lock.byte);
      if (current === null)
        return `this process has lost its locks on ${file}, because something in it opened and closed the file outside of heddle: restart it`;
      this.#locks.set(path, current);
    }
    this.#locksSeenMs = nowMs;
    return null;
  }
}

/**
 * The descriptor by which SQLite has a file open: closing another one would drop the locks. Null
 * where the system does not show it.
 */
function descriptorOf(file: string): number | null {
  const open = fileIdentity(file);
  try {
    const name = namesInProc('/proc/self/fd').find(
      (one) => fileIdentity(`/proc/self/fd/${one}`) === open,
    );
    return name === undefined ? null : Number(name);
  } catch {
    return null;
  }
}

function look(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function gone(file: string): string {
  return `${file} was deleted or moved away while heddle had it open: put it back, or restart heddle to begin with an empty database`;
}

function replaced(path: string, file: string): string {
  const what =
    path === file
      ? 'restart heddle to use the new file'
      : `${file} cannot be written: restart heddle`;
  return `${path} was replaced while heddle had it open: ${what}`;
}

function overwritten(file: string): string {
  return `${file} was overwritten with another database while heddle had it open: end heddle, and use 'heddle store restore FILE' instead`;
}

function emptied(file: string): string {
  return `${file} was emptied while heddle had it open: end heddle, and restore a backup with 'heddle store restore FILE'`;
}
