import { join } from 'node:path';
import { isLink } from '../../base/paths/is-link.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { PROTECTED_NAMES } from '../../policy/permissions/sandbox-bounds.ts';
import { barePlaces, gitPlaces, isRepository, missingForBare } from './git-places.ts';
import type { ViewPlaces } from './view-places.ts';

/**
 * Protects the names in a writable root, including those that do not exist yet, and everything that git reads there to find the
 * programs that it runs. `userHome` is the folder that `~` means in a git configuration.
 */
export function protectNames(root: string, places: ViewPlaces, userHome: string | null): void {
  if (statOf(root)?.isDirectory() !== true) return;
  const dotGit = join(root, '.git');
  const found = gitPlaces(dotGit, userHome);
  // Links first: protecting a link makes its folder read-only, so the other names need no guards.
  const links = PROTECTED_NAMES.filter((name) => isLink(join(root, name)));
  for (const name of [...links, ...PROTECTED_NAMES]) places.protectEntry(root, name);
  for (const path of found) if (path !== dotGit) places.protect(path);
  const isOwnFolder = found.some((path) => path === root);
  // Only without a repository in `.git` does git look whether the root itself is one.
  if (found.length > 0 && !isOwnFolder && isRepository(dotGit)) return;
  const missing = isOwnFolder ? [] : missingForBare(root, (path) => places.isGuard(path));
  for (const name of missing) places.protectEntry(root, name);
  if (missing.length > 0) return;
  // The root is git's own folder: nothing can be added to it that git would read.
  places.freeze(root);
  for (const path of barePlaces(root, userHome)) if (statOf(path) !== null) places.protect(path);
}
