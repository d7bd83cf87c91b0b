import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeOpenFilePrivate } from '../paths/make-private.ts';
import { realPathOrSame } from '../paths/real-path.ts';
import { hasErrorCode } from '../system-error-code.ts';
import { O_PATH } from './o-path.ts';
import { openForAppendingSync } from './open-new-file.ts';
import { openPinnedSync } from './open-pinned.ts';

const MODE = 0o600;
const ROOT = 0;
const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_WRONLY } = constants;
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/**
 * A file that text is appended to, which only its user can read. If it is moved away or removed, as
 * programs that rotate logs do, the next text goes to a new file of its name, in the same folder.
 * Nothing but a regular file takes its place: a link would lead anywhere, and commands can make one
 * if the file is in a workspace.
 */
export class AppendedFile {
  #descriptor: number;
  /**
   * Null: the file is no regular one, such as a pipe, or has no path, such as a removed one at
   * /dev/stderr. It is never looked for again.
   */
  readonly #place: Place | null;

  /**
   * Opens whatever is at the path, through links, or creates a file. Throws the system's error or
   * an OwnFileError.
   */
  constructor(path: string) {
    this.#descriptor = openForAppendingSync(path, MODE);
    makeOpenFilePrivate(this.#descriptor);
    this.#place = openPlace(path, fstatSync(this.#descriptor));
  }

  /** The bytes of the file that has the name now. 0: it has no place. */
  bytes(): number {
    this.#follow();
    return this.#place === null ? 0 : fstatSync(this.#descriptor).size;
  }

  /** Throws the system's error. */
  append(text: string | Buffer): void {
    this.#follow();
    if (typeof text === 'string') writeSync(this.#descriptor, text);
    else writeSync(this.#descriptor, text);
  }

  /**
   * Adds `end` to the name of the file, in place of an earlier file of that name, and goes on in a
   * new one. Throws if that fails.
   */
  setAside(end: string): void {
    if (this.#place === null) return;
    const { path } = this.#place;
    try {
      renameSync(path, `${path}${end}`);
    } catch (error) {
      // Another process, or an earlier attempt, has renamed it already.
      if (!hasErrorCode(error, ['ENOENT'])) throw error;
    }
    this.#openAgain(path);
  }

  close(): void {
    closeSync(this.#descriptor);
    const folder = this.#place?.folder ?? null;
    if (folder !== null) closeSync(folder);
  }

  /** If the file cannot be opened again, the one that is open takes the text: nothing is lost. */
  #follow(): void {
    if (this.#place === null) return;
    try {
      const now = lstatSync(this.#place.path, { throwIfNoEntry: false });
      if (now === undefined || !isSame(now, fstatSync(this.#descriptor)))
        this.#openAgain(this.#place.path);
    } catch {
      // The folder is gone, or what is there now is not for heddle.
    }
  }

  #openAgain(path: string): void {
    const next = openNext(path, fstatSync(this.#descriptor).uid);
    makeOpenFilePrivate(next);
    closeSync(this.#descriptor);
    this.#descriptor = next;
  }
}

/** The path of a file, which stays in the folder that it was in. */
interface Place {
  path: string;
  /** The open folder. Null: the system has no paths that begin at one. */
  folder: number | null;
}

/** Null: the open file is no regular one, or is not at its path. */
function openPlace(given: string, file: Stats): Place | null {
  const path = realPathOrSame(given);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!file.isFile() || found === undefined || !isSame(found, file)) return null;
  if (O_PATH === 0 || !existsSync('/proc/self/fd')) return { path, folder: null };
  const folder = openSync(dirname(path), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { path: join(`/proc/self/fd/${folder}`, basename(path)), folder };
}

/** `user`: the owner of the file before. */
function openNext(path: string, user: number): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, MODE);
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
  }
  return openPinnedSync(path, {
    flags: O_WRONLY | O_APPEND,
    followLinks: false,
    check: (stats) => requireOwn(stats, user),
  }).descriptor;
}

function requireOwn(stats: Stats, user: number): void {
  const isOwn = stats.isFile() && stats.nlink === 1 && (stats.uid === user || stats.uid === ROOT);
  if (!isOwn) throw new Error('the file is a link, has several names, or belongs to another user');
}

function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}
