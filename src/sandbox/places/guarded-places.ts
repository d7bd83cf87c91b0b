import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  type Stats,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock, Timer } from '../../base/clock.ts';
import { holderOf } from '../../base/files/is-empty-git-folder.ts';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { type GuardList, guardIdentity } from './guard-list.ts';
import { openPlace } from './open-place.ts';

const TRIES_MAX = 8;
const SHARED_LINGER_MS = 10_000;
/**
 * How long a guard stays for a next command of the same turn. To make and remove a guard takes
 * about half a millisecond.
 */
const LINGER_MS = 1_000;
/** A folder with more entries is not a guard: each entry of a guard is a server that uses it. */
const HOLDS_MAX = 1000;
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];
/** The guard or a folder above it was removed or replaced in the meantime. */
const CHANGED = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/** A guard that this process holds. */
interface Guard {
  /** The number of commands that need it. */
  holders: number;
  /** The descriptor of the folder that contains the guard. */
  parent: number;
  /** The descriptor of the guard itself. */
  own: number;
  /** See `guardIdentity`. */
  identity: string;
  /** Removes the guard if no further command needs it. Null: a command needs it now. */
  removal: Timer | null;
}

export interface GuardOptions {
  clock: Clock;
  /**
   * Folders in which guards stay longer, because creating them for each command would take longer
   * than the command.
   */
  shared: readonly string[];
  list: GuardList;
}

/**
 * Creates guards: empty folders at paths that commands must not create, so that the sandbox can
 * mount something there. A guard is removed when no command needs it any more, or shortly
 * afterwards. Each process that uses a guard holds it by an empty folder inside it. Only an empty
 * folder can be removed, so no process removes a guard that another still needs. git ignores empty
 * folders, so it shows no change. A crash can leave a guard behind, until the next command there
 * ends, or `sweepGuards` removes it.
 *
 * Folders are created and removed through open folders, so replacing a folder by a link in the
 * meantime has no effect.
 */
export class GuardedPlaces {
  readonly #options: GuardOptions;
  readonly #guards = new Map<string, Guard>();
  readonly #namespace = /\d+/.exec(readProcLink('/proc/self/ns/pid'))?.[0] ?? '0';
  readonly #hold =
    `held-for-sandbox-${this.#namespace}-${readProcLink('/proc/self')}-${randomBytes(4).toString('hex')}`;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Guards a path without links, or holds the existing guard, unless it was moved away. Returns
   * false if this user has no permission to create anything there. Throws a `ProcessStartError` if
   * it fails for another reason, such as a full disk.
   */
  take(path: string): boolean {
    const known = this.#guards.get(path);
    const guard = known !== undefined && isAt(path, known) ? known : this.#make(path);
    if (guard === null) return false;
    if (known !== undefined && known !== guard) {
      guard.holders = known.holders;
      known.removal?.clear();
      this.#remove(path, known);
    }
    guard.holders += 1;
    guard.removal?.clear();
    guard.removal = null;
    this.#guards.set(path, guard);
    return true;
  }

  /**
   * Whether the folder is a guard, made by this process or by another one, which may have ended.
   */
  isGuard(path: string): boolean {
    const names = namesIn(path);
    if (names === null) return false;
    if (names.length > 0) return names.every((name) => holderOf(name) !== null);
    const known = this.#guards.get(path);
    return known !== undefined && isAt(path, known);
  }

  /**
   * Whether the folder at a path, of which these are the stats, is a guard that this process holds.
   * It need not be empty.
   */
  holds(path: string, stat: Stats): boolean {
    return this.#guards.get(path)?.identity === guardIdentity(stat);
  }

  /** `moreFollow`: further commands may need the guard soon, so it stays for a moment. */
  release(path: string, moreFollow: boolean): void {
    const guard = this.#guards.get(path);
    if (guard === undefined) return;
    guard.holders -= 1;
    if (guard.holders > 0) return;
    const { clock, shared } = this.#options;
    const isShared = shared.includes(dirname(path));
    const remove = () => this.#remove(path, guard);
    if (isShared || moreFollow)
      guard.removal = clock.setTimer(remove, isShared ? SHARED_LINGER_MS : LINGER_MS);
    else remove();
  }

  /** Removes the guards that stay for further commands, except those in shared folders. */
  tidy(): void {
    this.#removeIf((path) => !this.#options.shared.includes(dirname(path)));
  }

  /** Removes the guards that no command needs. */
  close(): void {
    this.#removeIf(() => true);
    this.#options.list.close();
  }

  #removeIf(isMeant: (path: string) => boolean): void {
    for (const [path, guard] of this.#guards) {
      if (guard.holders > 0 || !isMeant(path)) continue;
      guard.removal?.clear();
      this.#remove(path, guard);
    }
  }

  #remove(path: string, guard: Guard): void {
    if (this.#guards.get(path) === guard) this.#guards.delete(path);
    this.#options.list.delete(guard.identity);

    unlessInUse(() => {
      rmdirSync(within(guard.own, this.#hold));
      // Somebody may have put an empty folder of their own there.
      if (!isAt(within(guard.parent, basename(path)), guard)) return;
      if (removedIfEmpty(within(guard.parent, basename(path)))) return;
      this.#forgetTheDead(guard);
      rmdirSync(within(guard.parent, basename(path)));
    });
    closeSync(guard.own);
    closeSync(guard.parent);
  }

  #make(path: string): Guard | null {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const parent = openPlace(dirname(path));
      // A command has replaced a folder of the path.
      if (parent === null) continue;
      try {
        const { own, isGuard } = this.#makeIn(parent, basename(path));
        const identity = guardIdentity(fstatSync(own));
        if (isGuard) this.#options.list.add({ path, identity, hold: this.#hold });
        return { holders: 0, parent, own, identity, removal: null };
      } catch (error) {
        closeSync(parent);
        if (hasErrorCode(error, FORBIDDEN)) return null;
        if (hasErrorCode(error, CHANGED)) continue;
        throw new ProcessStartError(`${path} could not be protected: ${String(error)}`, {
          cause: error,
        });
      }
    }
    throw new ProcessStartError(
      `${path} could not be protected: other processes keep removing or replacing it`,
    );
  }

  /**
   * Makes a guard in an open folder, unless it exists, and holds it. Returns its descriptor, and
   * whether it is certainly a guard: not a folder that somebody else has just made. Throws the
   * system's error.
   */
  #makeIn(parent: number, name: string): { own: number; isGuard: boolean } {
    const isNew = makeGuardFolder(within(parent, name));
    let own: number | null = null;
    try {
      own = openSync(
        within(parent, name),
        constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
      );
      const isGuard =
        isNew || (namesIn(within(own, '')) ?? []).some((entry) => holderOf(entry) !== null);
      mkdirSync(within(own, this.#hold), 0o700);
      return { own, isGuard };
    } catch (error) {
      if (own !== null) closeSync(own);
      if (isNew) unlessInUse(() => rmdirSync(within(parent, name)));
      throw error;
    }
  }

  /** Removes the holds of ended processes, if they belong to the same process namespace. */
  #forgetTheDead({ own }: Guard): void {
    for (const { name } of listFolderSync(within(own, ''), HOLDS_MAX).entries) {
      const holder = holderOf(name);
      if (holder?.namespace === this.#namespace && !existsSync(`/proc/${holder.pid}`))
        rmdirSync(within(own, name));
    }
  }
}

/** Whether the path leads to the guard. */
function isAt(path: string, { identity }: Guard): boolean {
  const stat = statOf(path);
  return stat !== null && guardIdentity(stat) === identity;
}

/** The path of an entry of an open folder. */
function within(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`;
}

/**
 * Returns no names if the folder cannot be read: then it is not a guard. Returns null if it has too
 * many.
 */
function namesIn(path: string): string[] | null {
  try {
    const { entries, cut } = listFolderSync(path, HOLDS_MAX);
    return cut ? null : entries.map(({ name }) => name);
  } catch (error) {
    if (hasErrorCode(error, [...FORBIDDEN, ...CHANGED])) return [];
    throw error;
  }
}

/** Ignores the errors of a guard that another process still holds, has removed, or has changed. */
function unlessInUse(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!hasErrorCode(error, [...FORBIDDEN, ...CHANGED, 'ENOTEMPTY', 'EEXIST', 'EBUSY']))
      throw error;
  }
}

/** Returns whether the folder was removed. Returns false if it is not empty. */
function removedIfEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, ['ENOTEMPTY', 'EEXIST'])) throw error;
    return false;
  }
}

/** Returns whether the folder was created. Returns false if something exists there. */
function makeGuardFolder(path: string): boolean {
  try {
    mkdirSync(path, 0o755);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
    return false;
  }
}
