import { readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { monotonicMs } from '../clock.ts';
import { realPathOrSame } from '../paths/real-path.ts';

// When a process closes any descriptor of a file, POSIX drops all locks that the process holds on
// the file, whoever took them. So one read of the database outside of SQLite would let another
// process write into it. The locks belong to the process, and so does this list: a process can have
// several servers, each with a store.

/**
 * The device and inode of a file, which are the same for all its paths. Numbers suffice, because
 * both sides of a comparison are rounded alike.
 */
export interface FileIdentity {
  dev: number | bigint;
  ino: number | bigint;
}

/** The ends of the names of the files that SQLite makes beside a database. */
const DATABASE_ENDS = ['', '-wal', '-shm', '-journal'];
/** The path of the database of a store in this folder. */
export function storeFileIn(folder: string): string {
  return join(folder, 'heddle.db');
}

/** The folder beside a database that has the lock files of its writers. */
export const WRITERS_FOLDER = 'heddle-writers';
/** The folders are looked at again after this time: reads come in bursts. */
const LOOK_MS = 1;
/**
 * The system's clock for times of change ticks this often. A folder that changed just now may
 * change again in the same tick.
 */
const TICK_MS = 50;
/** More identities than a store's files have at one time are those of lock files that are gone. */
const IDENTITIES_MAX = 256;

const stores = new Map<string, { users: number; files: StoreFiles }>();

/**
 * Protects the files of a store from every opener of this process except SQLite, as long as the
 * store is not released. `file` is the database, which need not exist. Returns the release; call it
 * when the store has closed its files.
 */
export function protectStore(file: string): () => void {
  const kept = stores.get(file) ?? { users: 0, files: new StoreFiles(file) };
  stores.set(file, kept);
  kept.users += 1;
  let released = false;
  return () => {
    if (released) return;
    released = true;
    kept.users -= 1;
    if (kept.users === 0) stores.delete(file);
  };
}

/** The folder of the first store of this process. Null: it has none. */
export function storeFolder(): string | null {
  const [file] = stores.keys();
  return file === undefined ? null : dirname(file);
}

/**
 * The path of the store's file that this is, by any name. Null: no store of this process has it.
 * Costs a few microseconds.
 */
export function ownFile(identity: FileIdentity): string | null {
  for (const { files } of stores.values()) {
    const path = files.pathOf(identity);
    if (path !== null) return path;
  }
  return null;
}

/**
 * The path of the store's file that a new file at `path` would be. Null: it would be none. Nothing
 * needs to be at the path.
 */
export function ownName(path: string | Buffer): string | null {
  if (stores.size === 0) return null;
  const [folder, name] = [dirname(String(path)), basename(String(path))];
  for (const { files } of stores.values()) {
    const own = files.named(folder, name);
    if (own !== null) return own;
  }
  return null;
}

/** The path of a store's database that lies in a folder, at any depth. Null: there is none. */
export function ownFileBelow(folder: FileIdentity): string | null {
  for (const { files } of stores.values()) {
    if (files.liesBelow(folder)) return files.file;
  }
  return null;
}

class StoreFiles {
  readonly file: string;
  /**
   * Paths by identity. Those that are no longer at their path stay, because SQLite may have them
   * open.
   */
  readonly #paths = new Map<string, string>();
  #current = new Set<string>();
  #stamp: string | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(file: string) {
    this.file = file;
  }

  pathOf(identity: FileIdentity): string | null {
    this.#look();
    const key = keyOf(identity);
    const path = this.#paths.get(key);
    if (path === undefined || this.#current.has(key) || isOpenHere(key)) return path ?? null;
    // The system has given the number of a removed file to another one.
    this.#paths.delete(key);
    return null;
  }

  named(folder: string, name: string): string | null {
    const writers = join(dirname(this.file), WRITERS_FOLDER);
    if (isSameFolder(folder, writers)) return join(writers, name);
    const own = this.#ownName(name);
    return own !== null && isSameFolder(folder, dirname(own)) ? own : null;
  }

  liesBelow(folder: FileIdentity): boolean {
    if (statOrNull(this.file) === null) return false;
    for (let above = realPathOrSame(dirname(this.file)); ; above = dirname(above)) {
      const stats = statOrNull(above);
      if (stats !== null && keyOf(stats) === keyOf(folder)) return true;
      if (above === dirname(above)) return false;
    }
  }

  /** File systems that ignore upper and lower case have only one file for both. */
  #ownName(name: string): string | null {
    const end = DATABASE_ENDS.find(
      (one) => name.toLowerCase() === (basename(this.file) + one).toLowerCase(),
    );
    return end === undefined ? null : this.file + end;
  }

  #look(): void {
    const nowMs = monotonicMs();
    if (nowMs - this.#lookedAtMs < LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    const folders = [dirname(this.file), join(dirname(this.file), WRITERS_FOLDER)].map(statOrNull);
    const stamp = folders
      .map((stats) => (stats === null ? '' : `${stats.dev}:${stats.ino}:${stats.mtimeMs}`))
      .join(' ');
    if (stamp === this.#stamp) return;
    const settled = folders.every(
      (stats) => stats === null || Date.now() - stats.mtimeMs > TICK_MS,
    );
    this.#stamp = settled ? stamp : null;
    this.#list();
  }

  #list(): void {
    this.#current = new Set();
    const folder = join(dirname(this.file), WRITERS_FOLDER);
    const paths = [
      ...DATABASE_ENDS.map((end) => this.file + end),
      ...namesIn(folder).map((name) => join(folder, name)),
    ];
    for (const path of paths) {
      const stats = statOrNull(path);
      if (stats === null) continue;
      this.#current.add(keyOf(stats));
      this.#paths.set(keyOf(stats), path);
    }
    if (this.#paths.size <= this.#current.size + IDENTITIES_MAX) return;
    for (const key of this.#paths.keys())
      if (!this.#current.has(key) && !isOpenHere(key)) this.#paths.delete(key);
  }
}

function keyOf({ dev, ino }: FileIdentity): string {
  return `${Number(dev)}:${Number(ino)}`;
}

function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [statOrNull(one), statOrNull(other)];
  return first !== null && second !== null && keyOf(first) === keyOf(second);
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // A folder that this user may not enter: SQLite cannot open anything there either.
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether this process has the file open. True if the system does not show that. */
function isOpenHere(key: string): boolean {
  try {
    return readdirSync('/proc/self/fd').some((name) => {
      const stats = statOrNull(`/proc/self/fd/${name}`);
      return stats !== null && keyOf(stats) === key;
    });
  } catch {
    return true;
  }
}
