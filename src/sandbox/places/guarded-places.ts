import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { ProcessStartError } from '../processes/processes.ts';

const HOLD_NAME = /^held-for-sandbox-(\d+)-(\d+)-[0-9a-f]+$/;
const TRIES_MAX = 8;
/** A folder with more entries is not a guard: each entry of a guard is a server that uses it. */
const HOLDS_MAX = 1000;
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Creates guards: empty folders at paths that commands must not create, so that the sandbox can mount something there. A guard is
 * removed when no command needs it any more. Each process that uses a guard holds it by an empty folder inside it. Only an
 * empty folder can be removed, so no process removes a guard that another still needs. git ignores empty folders, so it shows no
 * change. A crash can leave a guard behind, until the next command there ends.
 */
export class GuardedPlaces {
  readonly #holders = new Map<string, number>();
  readonly #namespace = /\d+/.exec(readProcLink('/proc/self/ns/pid'))?.[0] ?? '0';
  readonly #hold = `held-for-sandbox-${this.#namespace}-${readProcLink('/proc/self')}-${randomBytes(4).toString('hex')}`;

  /**
   * Guards a path, or holds the existing guard. Returns false if this user has no permission to create anything there. Throws a
   * `ProcessStartError` if it fails for another reason, such as a full disk.
   */
  take(path: string): boolean {
    const holders = this.#holders.get(path) ?? 0;
    if (holders === 0 && !this.#make(path)) return false;
    this.#holders.set(path, holders + 1);
    return true;
  }

  /** Whether the folder is a guard, made by this process or by another one, which may have ended. */
  isGuard(path: string): boolean {
    const names = namesIn(path);
    if (names === null) return false;
    return names.every((name) => HOLD_NAME.test(name)) && (names.length > 0 || this.#holders.has(path));
  }

  release(path: string): void {
    const holders = this.#holders.get(path) ?? 0;
    this.#holders.set(path, holders - 1);
    if (holders > 1) return;
    this.#holders.delete(path);
    unlessInUse(() => {
      rmdirSync(join(path, this.#hold));
      this.#forgetTheDead(path);
      rmdirSync(path);
    });
  }

  #make(path: string): boolean {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      let made = false;
      try {
        made = makeGuardFolder(path);
        mkdirSync(join(path, this.#hold), 0o700);
        return true;
      } catch (error) {
        if (hasErrorCode(error, FORBIDDEN)) return false;
        // Another process removed the guard in the meantime.
        if (hasErrorCode(error, ['ENOENT'])) continue;
        if (made) unlessInUse(() => rmdirSync(path));
        throw new ProcessStartError(`${path} could not be protected: ${String(error)}`, { cause: error });
      }
    }
    throw new ProcessStartError(`${path} could not be protected: other processes keep removing it`);
  }

  /** Removes the holds of ended processes, if they belong to the same process namespace. */
  #forgetTheDead(path: string): void {
    for (const { name } of listFolderSync(path, HOLDS_MAX).entries) {
      const [, namespace, pid] = HOLD_NAME.exec(name) ?? [];
      if (namespace === this.#namespace && !existsSync(`/proc/${pid}`)) rmdirSync(join(path, name));
    }
  }
}

/** Returns no names if the folder cannot be read: then it is not a guard. Returns null if it has too many. */
function namesIn(path: string): string[] | null {
  try {
    const { entries, cut } = listFolderSync(path, HOLDS_MAX);
    return cut ? null : entries.map(({ name }) => name);
  } catch (error) {
    if (hasErrorCode(error, [...FORBIDDEN, 'ENOENT', 'ENOTDIR'])) return [];
    throw error;
  }
}

/** Ignores the errors of a guard that another process still holds, has removed, or has changed. */
function unlessInUse(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!hasErrorCode(error, [...FORBIDDEN, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY'])) throw error;
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
