import { dirname, join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { eachEntry } from '../../base/files/list-folder.ts';
import { ownUser } from '../../base/files/read-proc.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { barePlaces, gitPlaces, isBareLayout, isBareName, submodulePlaces } from './git-places.ts';
import { joinPlaces, type NestedPlace } from './join-places.ts';
import { KERNEL_FOLDERS } from './kernel-folders.ts';
import { PATH_BYTES_MAX } from './view-places.ts';

/**
 * More folders than in any known repository. If there are more, commands are refused, because
 * places would stay unprotected.
 */
const FOLDERS_MAX = 2_000_000;
const FOUND_MAX = 4_000;
/** The number of folders that are read at once. */
const READS_MAX = 8;
/** The work of looking into a folder, in the units of `EventLoopYield`. */
const LOOK_WORK = 20;
const SEARCHED_BY_GROUP = 0o010;
const SEARCHED_BY_OTHERS = 0o001;

/**
 * The depth of the walk below a folder for everyone's temporary files: its folders are mostly
 * unrelated.
 */
const SHARED_DEPTH_MAX = 1;

export interface NestedOptions {
  /** Folders that the user has left out. */
  unprotected: readonly string[];
  /** The system's folders for everyone's temporary files. Real paths. */
  shared: readonly string[];
  /** The folder that `~` means in a git configuration. Null: unknown. */
  userHome: string | null;
}

/**
 * Walks a writable root, and returns the places below it that must not change: each protected name,
 * and everything that git reads there to find the programs that it runs. Shallow paths come first;
 * they may contain links. If there is too much, deep places are joined into the folder above them.
 * Folders that cannot be read count as empty. Rejects with a `ProcessStartError` if too much
 * remains.
 */
export async function findNestedPlaces(
  root: string,
  { unprotected, shared, userHome }: NestedOptions,
): Promise<NestedPlace[]> {
  const depthMax = shared.includes(root) ? SHARED_DEPTH_MAX : Number.POSITIVE_INFINITY;
  const found: NestedPlace[] = [];
  const folders = [{ path: root, depth: 0 }];
  const loop = new EventLoopYield();
  let read = 0;
  const visit = async ({ path, depth }: { path: string; depth: number }) => {
    const { places, below } = await lookInto(path, { depth, userHome, loop });
    for (const place of places) found.push(place);
    if (depth < depthMax)
      for (const folder of below)
        if (!unprotected.includes(folder)) folders.push({ path: folder, depth: depth + 1 });
  };
  while (folders.length > 0) {
    const batch = folders.splice(-READS_MAX);
    read += batch.length;
    await Promise.all(batch.map(visit));
    if (read > FOLDERS_MAX) throw tooMuch(root, `more than ${FOLDERS_MAX} folders`);
    if (found.length > FOUND_MAX)
      throw tooMuch(fullest(root, found), `more than ${FOUND_MAX} protected paths, such as .git`);
  }
  const joined = await joinPlaces(root, found);
  if (joined === null)
    throw tooMuch(fullest(root, found), 'too many protected paths, such as .git');
  return joined;
}

interface LookOptions {
  depth: number;
  userHome: string | null;
  loop: EventLoopYield;
}

/** Returns the places to protect in a folder, and the folders to read next. */
async function lookInto(
  folder: string,
  { depth, userHome, loop }: LookOptions,
): Promise<{ places: NestedPlace[]; below: string[] }> {
  const entries = await entriesOf(folder, { isRoot: depth === 0 });
  await loop.worked(LOOK_WORK);
  // The owner of a folder that cannot be read can change its mode later.
  if (entries === null)
    return { places: depth > 0 ? [{ path: folder, reason: folder }] : [], below: [] };
  const { names, folders } = entries;
  // A name that is not UTF-8 cannot be passed on.
  const isMountable = (name: string) =>
    !name.includes('\uFFFD') &&
    Buffer.byteLength(folder) + Buffer.byteLength(name) < PATH_BYTES_MAX;
  const below = folders.filter((name) => !isProtectedName(name));
  // Entries of such a folder cannot be mounted, so the folder is protected as a whole.
  if (depth > 0 && below.some((name) => !isMountable(name)))
    return { places: [{ path: folder, reason: folder }], below: [] };
  const places: NestedPlace[] = [];
  const add = (reason: string, paths: readonly string[]) => {
    for (const path of paths) places.push({ path, reason });
  };
  if (names.has('.git')) add(join(folder, '.git'), await submodulePlaces(join(folder, '.git')));
  if (depth > 0) {
    for (const name of names)
      if (isProtectedName(name))
        add(join(folder, name), placesOf(join(folder, name), name, userHome));
    if (isBareLayout(names)) {
      add(folder, [folder, ...barePlaces(folder, userHome)]);
      return { places, below: [] };
    }
  }
  return {
    places,
    below: below
      .filter(isMountable)
      .map((name) => join(folder, name))
      .filter((path) => !KERNEL_FOLDERS.includes(path)),
  };
}

/**
 * Whether root gets into a folder only by a capability that sandboxes do not have: nothing in it
 * can be mounted.
 */
function isClosedToSandbox(folder: string): boolean {
  const [own, stat] = [ownUser(), statOf(folder)];
  if (own?.uid !== 0 || stat === null || stat.uid === 0) return false;
  return (stat.mode & (stat.gid === own.gid ? SEARCHED_BY_GROUP : SEARCHED_BY_OTHERS)) === 0;
}

function placesOf(path: string, name: string, userHome: string | null): string[] {
  return name === '.git' ? gitPlaces(path, userHome) : [path];
}

interface Entries {
  /** The names that can matter: protected ones, and those of a repository without a work tree. */
  names: Set<string>;
  folders: string[];
}

/**
 * Returns null if the folder is to be protected as a whole: this user may not read it, or no
 * sandbox of this user gets into it.
 */
async function entriesOf(folder: string, { isRoot }: { isRoot: boolean }): Promise<Entries | null> {
  // A root is not protected as a whole.
  if (!isRoot && isClosedToSandbox(folder)) return null;
  const entries: Entries = { names: new Set(), folders: [] };
  const isRead = await eachEntry(folder, (entry) => {
    if (isProtectedName(entry.name) || isBareName(entry.name)) entries.names.add(entry.name);
    if (entry.isDirectory()) entries.folders.push(entry.name);
  });
  return isRead ? entries : null;
}

/** The folder directly below the root that contains the most places. */
function fullest(root: string, places: readonly NestedPlace[]): string {
  const counts = new Map<string, number>();
  for (const { reason } of places) {
    let top = reason;
    while (isWithin(dirname(top), root) && dirname(top) !== root) top = dirname(top);
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [root, 0])[0];
}

function tooMuch(place: string, what: string): ProcessStartError {
  return new ProcessStartError(
    `${place} contains ${what}, so the sandbox cannot protect them. If commands may change them, add the folder to ` +
      '`unprotected_folders` under [sandbox_workspace_write] in the config.toml of your heddle home.',
  );
}
