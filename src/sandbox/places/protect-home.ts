import { join } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { readProc } from '../../base/files/read-proc.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { linkTarget } from '../../base/paths/link-target.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import {
  HOME_PROTECTED,
  HOME_READABLE,
  HOME_SECRETS,
  isHomeSecret,
  isSecretCopy,
} from '../../policy/permissions/home-readable.ts';
import { mountAliases } from '../linux/mount-aliases.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { linkedSecrets } from './linked-secrets.ts';
import { GUARD_WORK, type ViewPlaces } from './view-places.ts';

/** A larger home is not heddle's. */
const ENTRIES_MAX = 5000;

/** The home, and the parts of it that commands work in. */
interface HomeOptions {
  home: string;
  /**
   * Real paths. If the home itself is a workspace, everything in it except its secrets is visible.
   */
  workspace: readonly string[];
  /** Whether everything outside the places of the view can be read. */
  everything: boolean;
  /** The names of the files of profiles. */
  profileFiles: readonly string[];
}

/**
 * Protects heddle's home at every path that leads to it. In the sandbox, the home is a read-only
 * folder with only the entries that a command may read, and the writable roots and workspaces in
 * it. If the home itself is a writable root, it is writable except for heddle's own files.
 */
export async function protectHome(
  { home, ...options }: HomeOptions,
  places: ViewPlaces,
  loop: EventLoopYield,
): Promise<void> {
  const real = realPath(home);
  if (real === null) return;
  const own = statOf(real);
  const mountInfo = readProc('/proc/self/mountinfo');
  if (mountInfo === null)
    throw new ProcessStartError(`${real} cannot be protected: /proc/self/mountinfo cannot be read`);
  const aliases = mountAliases(real, mountInfo).filter((alias) => {
    const stat = statOf(alias);
    return stat !== null && stat.ino === own?.ino && stat.dev === own.dev;
  });
  for (const path of [real, ...aliases]) await protectHomeAt(path, options, { places, loop });
}

interface Building {
  places: ViewPlaces;
  loop: EventLoopYield;
}

async function protectHomeAt(
  path: string,
  { workspace, everything, profileFiles }: Omit<HomeOptions, 'home'>,
  { places, loop }: Building,
): Promise<void> {
  if (places.kinds.get(path) === 'write')
    await protectOwnFiles(path, profileFiles, { places, loop });
  else if (workspace.includes(path)) hideSecrets(path, places);
  else {
    const seen = everything || places.kindOf(path) !== undefined;
    hideHome(path, places);
    if (seen) showHome(path, places);
    for (const folder of workspace) if (isWorkIn(folder, path)) places.show(folder, 'read');
  }
  hideLinkedSecrets(path, everything, places);
}

/** Removes the places in the home from the view, except those in a writable root. */
function hideHome(home: string, places: ViewPlaces): void {
  const roots = [...places.kinds]
    .filter(([path, kind]) => kind === 'write' && isWorkIn(path, home))
    .map(([path]) => path);
  for (const path of places.kinds.keys()) {
    if (isWithin(path, home) && !roots.some((root) => isWithin(path, root)))
      places.kinds.delete(path);
  }
}

/** Whether a folder is in the home and not one of its secrets. */
function isWorkIn(folder: string, home: string): boolean {
  return isWithin(folder, home) && !isHomeSecret(folder, home);
}

function showHome(home: string, places: ViewPlaces): void {
  places.set(home, 'bare');
  for (const name of HOME_READABLE) {
    const path = join(home, name);
    const stat = statOf(path);
    if (stat?.isSymbolicLink() === true) {
      const target = linkTarget(path);
      // Null: it has just been removed.
      if (target !== null) places.links.set(path, target);
      places.protect(path);
    } else if (stat !== null && !places.kinds.has(path)) places.set(path, 'read');
  }
}

async function protectOwnFiles(
  home: string,
  profileFiles: readonly string[],
  { places, loop }: Building,
): Promise<void> {
  for await (const name of inSlices([...HOME_PROTECTED, ...profileFiles], GUARD_WORK, loop))
    places.protect(join(home, name));
  hideSecrets(home, places);
}

function hideSecrets(home: string, places: ViewPlaces): void {
  const { entries, cut } = listFolderSync(home, ENTRIES_MAX);
  if (cut)
    throw new ProcessStartError(
      `${home} has more than ${ENTRIES_MAX} entries, so its secrets could not be protected`,
    );
  const copies = entries.map(({ name }) => name).filter(isSecretCopy);
  for (const name of new Set([...HOME_SECRETS, ...copies])) places.hide(join(home, name));
}

/**
 * Hides the targets of secrets that are links out of the home. A missing target cannot be created.
 */
function hideLinkedSecrets(home: string, everything: boolean, places: ViewPlaces): void {
  for (const name of HOME_SECRETS)
    if (linkTarget(join(home, name)) !== null) places.protect(join(home, name));
  for (const path of linkedSecrets(home)) {
    if (everything || places.kindOf(path) !== undefined)
      places.set(path, statOf(path)?.isDirectory() === true ? 'empty' : 'nothing');
  }
}
