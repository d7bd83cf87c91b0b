import { join } from 'node:path';
import { statOf } from '../../base/paths/stat-of.ts';
import { PROTECTED_NAMES } from '../../policy/permissions/sandbox-bounds.ts';
import { barePlaces, gitFolder, gitPlaces, missingForBare } from './git-places.ts';
import type { ViewPlaces } from './view-places.ts';

/**
 * Protects the names in a writable root, including those that do not exist yet, and everything that git reads there to find the
 * programs that it runs. `userHome` is the folder that `~` means in a git configuration.
 */
export function protectNames(root: string, places: ViewPlaces, userHome: string | null): void {
  if (statOf(root)?.isDirectory() !== true) return;
  const paths = PROTECTED_NAMES.map((name) => join(root, name));
  // Links first: protecting a link makes its folder read-only, so the other names need no guards.
  for (const path of paths.toSorted((a, b) => Number(isLink(b)) - Number(isLink(a)))) places.protect(path);
  const dotGit = join(root, '.git');
  for (const path of gitPlaces(dotGit, userHome)) places.protect(path);
  // Only without a repository in `.git` does git look whether the root itself is one.
  if (statOf(join(gitFolder(dotGit), 'HEAD')) !== null) return;
  const missing = missingForBare(root);
  for (const path of missing === null ? barePlaces(root, userHome) : [missing]) places.protect(path);
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}
