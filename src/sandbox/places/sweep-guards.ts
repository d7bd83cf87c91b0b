import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { holderOf } from '../../base/files/is-empty-git-folder.ts';
import { listFolder } from '../../base/files/list-folder.ts';
import { hasEnded, isOfOtherBoot } from '../../base/files/process-tag.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject, parsedJson } from '../../base/json-value.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { hasErrorCode, systemErrorCode } from '../../base/system-error-code.ts';
import { guardIdentity, guardListTag, type ListedGuard, machineId } from './guard-list.ts';
import { openPlace } from './open-place.ts';

/** The most lists that are read, and the most bytes of one. */
const LISTS_MAX = 10_000;
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** Somebody else uses the guard, or has changed what is there. */
const IN_USE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST', 'EBUSY'];

/**
 * Removes the guards that killed servers of this user have left, and returns their number. A folder
 * is removed only if it is the one that a server has listed, by device, inode and time of creation,
 * if it contains what that server has put there, and if nothing else is in it. Lists of processes
 * that may live stay, and so do those of guards that cannot be removed now.
 */
export async function sweepGuards(folder: string): Promise<number> {
  const machine = machineId();
  let removed = 0;
  for (const name of await listNames(folder)) {
    const tag = guardListTag(name);
    if (tag === null || !(hasEnded(tag) || isOfOtherBoot(tag))) continue;
    const list = join(folder, name);
    // A machine that has started again runs no process of an earlier start.
    const isDead = ({ machine: itsMachine }: ListedGuard) =>
      hasEnded(tag) || (itsMachine !== null && itsMachine === machine);
    const results = (await listedGuards(list)).map((guard) =>
      isDead(guard) ? removeGuard(guard) : 'refused',
    );
    removed += results.filter((result) => result === 'removed').length;
    if (!results.includes('refused')) rmSync(list, { force: true });
  }
  return removed;
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return (await listFolder(folder, LISTS_MAX)).entries.map(({ name }) => name);
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return [];
  }
}

async function listedGuards(list: string): Promise<ListedGuard[]> {
  try {
    const text =
      (await readRegularFile(list, { bytesMax: LIST_BYTES_MAX }))?.bytes.toString('utf8') ?? '';
    return text.split('\n').map(parsedJson).filter(isListedGuard);
  } catch {
    // Not a file that heddle has written.
    return [];
  }
}

function isListedGuard(value: unknown): value is ListedGuard {
  if (!isObject(value)) return false;
  const { path, identity, hold, machine } = value;
  const isNamed =
    typeof path === 'string' &&
    typeof identity === 'string' &&
    typeof hold === 'string' &&
    holderOf(hold) !== null;
  return isNamed && (machine === null || typeof machine === 'string');
}

/** Works through open folders, so replacing a folder by a link in the meantime has no effect. */
function removeGuard({ path, identity, hold }: ListedGuard): 'removed' | 'gone' | 'refused' {
  const parent = openPlace(dirname(path));
  if (parent === null) return 'gone';
  try {
    return removeFrom(`/proc/self/fd/${parent}/${basename(path)}`, identity, hold);
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return hasErrorCode(error, IN_USE) ? 'gone' : 'refused';
  } finally {
    closeSync(parent);
  }
}

function removeFrom(path: string, identity: string, hold: string): 'removed' | 'gone' {
  const guard = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const own = `/proc/self/fd/${guard}/${hold}`;
    if (guardIdentity(fstatSync(guard)) !== identity || !existsSync(own)) return 'gone';
    rmdirSync(own);
    const stat = statOf(path);
    if (stat === null || guardIdentity(stat) !== identity) return 'gone';
    try {
      rmdirSync(path);
    } catch (error) {
      // Without its hold, the next sweep would not know it.
      if (!hasErrorCode(error, IN_USE)) mkdirSync(own, 0o700);
      throw error;
    }
    return 'removed';
  } finally {
    closeSync(guard);
  }
}
