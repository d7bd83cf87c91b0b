import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { realPath } from '../../base/real-path.ts';
import { statOf } from '../../base/stat-of.ts';
import { HOME_KEPT, HOME_READABLE, HOME_SECRETS, isOfHome } from '../../policy/permissions/home-readable.ts';
import { mountAliases } from './mount-aliases.ts';
import type { ViewPlaces } from './view-places.ts';

/** What is kept of it, and what of it is work. */
interface Home {
  home: string;
  /** Real paths. A home that is a workspace itself shows all but what is secret in it. */
  workspace: readonly string[];
  /** Whether everything is read that no place says otherwise of. */
  everything: boolean;
}

/**
 * Keeps heddle's home, by whatever path it can be reached. It is an empty folder that cannot be changed, in which are only what
 * a command may read and the writable roots and workspaces that lie in it. A home that is a writable root itself is one, but for its
 * own files.
 */
export function protectHome({ home, workspace, everything }: Home, places: ViewPlaces): void {
  const real = realPath(home);
  if (real === null) return;
  const own = statOf(real);
  const aliases = mountAliases(real, readFileSync('/proc/self/mountinfo', 'utf8')).filter((alias) => {
    const stat = statOf(alias);
    return stat !== null && stat.ino === own?.ino && stat.dev === own.dev;
  });
  for (const path of [real, ...aliases]) keepHome(path, { workspace, everything }, places);
}

function keepHome(path: string, { workspace, everything }: Omit<Home, 'home'>, places: ViewPlaces): void {
  if (places.kinds.get(path) === 'write') keepOwnFiles(path, places);
  else if (workspace.includes(path)) hideSecrets(path, places);
  else {
    const seen = everything || places.kindOf(path) !== undefined;
    hideHome(path, places);
    if (seen) showHome(path, places);
    for (const folder of workspace) if (isWorkIn(folder, path)) places.show(folder, 'read');
  }
}

/** What is shown of it by its own name, and is no part of a writable root. */
function hideHome(home: string, places: ViewPlaces): void {
  const roots = [...places.kinds].filter(([path, kind]) => kind === 'write' && isWorkIn(path, home)).map(([path]) => path);
  for (const path of places.kinds.keys()) {
    if (isWithin(path, home) && !roots.some((root) => isWithin(path, root))) places.kinds.delete(path);
  }
}

/** Whether a folder lies in the home, and is no secret of it. */
function isWorkIn(folder: string, home: string): boolean {
  return isWithin(folder, home) && !isOfHome(folder, home, HOME_SECRETS);
}

function showHome(home: string, places: ViewPlaces): void {
  places.set(home, 'bare');
  for (const name of HOME_READABLE) {
    const path = join(home, name);
    const stat = statOf(path);
    if (stat?.isSymbolicLink() === true) places.links.set(path, readlinkSync(path));
    else if (stat !== null && !places.kinds.has(path)) places.set(path, 'read');
  }
}

function keepOwnFiles(home: string, places: ViewPlaces): void {
  for (const name of HOME_KEPT) places.protect(join(home, name));
  hideSecrets(home, places);
}

function hideSecrets(home: string, places: ViewPlaces): void {
  for (const name of HOME_SECRETS) places.hide(join(home, name));
}
