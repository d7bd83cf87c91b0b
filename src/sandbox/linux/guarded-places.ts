import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { ProcessStartError } from '../processes/processes.ts';

const HOLD_NAME = /^held-for-sandbox-(\d+)-(\d+)-[0-9a-f]+$/;
const TRIES_MAX = 8;
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Folders that stand where nothing may be made, so that something can be mounted there, and which are taken away when no
 * command needs them any more. Whoever needs one holds it by an empty folder in it: only an empty folder can be removed, so
 * no process loses what it relies on to another, and git, to which empty folders are nothing, shows none of them as a change.
 * A crash can leave one behind, until the next command there ends.
 */
export class GuardedPlaces {
  readonly #holders = new Map<string, number>();
  readonly #namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  readonly #hold = `held-for-sandbox-${this.#namespace}-${readlinkSync('/proc/self')}-${randomBytes(4).toString('hex')}`;

  /**
   * Guards a path, or holds the guard that is there. Whether it did: else there is nothing that this user could make
   * there. Throws a `ProcessStartError` where it cannot be done otherwise, as on a full disk.
   */
  take(path: string): boolean {
    const holders = this.#holders.get(path) ?? 0;
    if (holders === 0 && !this.#make(path)) return false;
    this.#holders.set(path, holders + 1);
    return true;
  }

  /** Whether the folder there is a guard, of this process or of another, living or dead. */
  isGuard(path: string): boolean {
    const names = namesIn(path);
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
        // Whoever held it before let go of it in between.
        if (hasErrorCode(error, ['ENOENT'])) continue;
        if (made) unlessInUse(() => rmdirSync(path));
        throw new ProcessStartError(`${path} could not be guarded: ${String(error)}`, { cause: error });
      }
    }
    throw new ProcessStartError(`${path} could not be guarded: it keeps being removed`);
  }

  /** Only of processes whose ids mean the same here. */
  #forgetTheDead(path: string): void {
    for (const name of readdirSync(path)) {
      const [, namespace, pid] = HOLD_NAME.exec(name) ?? [];
      if (namespace === this.#namespace && !existsSync(`/proc/${pid}`)) rmdirSync(join(path, name));
    }
  }
}

/** None of a folder that cannot be read: it is no guard. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (hasErrorCode(error, [...FORBIDDEN, 'ENOENT', 'ENOTDIR'])) return [];
    throw error;
  }
}

/** Another may hold it as well, or someone took it away or made it theirs. */
function unlessInUse(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!hasErrorCode(error, [...FORBIDDEN, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY'])) throw error;
  }
}

/** Returns false if something was there already. */
function makeGuardFolder(path: string): boolean {
  try {
    mkdirSync(path, 0o755);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
    return false;
  }
}
