import { join } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isLink } from '../../base/paths/is-link.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { PROTECTED_NAMES } from '../../policy/permissions/sandbox-bounds.ts';
import { barePlaces, gitPlaces, isRepository, missingForBare } from './git-places.ts';
import { GUARD_WORK, type ViewPlaces } from './view-places.ts';

export interface ProtectNamesOptions {
  /** The folder that `~` means in a git configuration. Null: unknown. */
  userHome: string | null;
  loop: EventLoopYield;
}

/**
 * Protects the names in a writable root, including those that do not exist yet, and everything that
 * git reads there to find the programs that it runs. Rejects with a `ProcessStartError` if that is
 * impossible.
 */
export async function protectNames(
  root: string,
  places: ViewPlaces,
  { userHome, loop }: ProtectNamesOptions,
): Promise<void> {
  if (statOf(root)?.isDirectory() !== true) return;
  const dotGit = join(root, '.git');
  const found = gitPlaces(dotGit, userHome);
  // Links first: protecting a link makes its folder read-only, so the other names need no guards.
  const links = PROTECTED_NAMES.filter((name) => isLink(join(root, name)));
  for await (const name of inSlices([...links, ...PROTECTED_NAMES], GUARD_WORK, loop))
    places.protectEntry(root, name);
  for await (const path of inSlices(found, GUARD_WORK, loop)) {
    if (path !== dotGit) places.protect(path);
  }
  const isOwnFolder = found.some((path) => path === root);
  // Only without a repository in `.git` does git look whether the root itself is one.
  if (found.length > 0 && !isOwnFolder && isRepository(dotGit)) return;
  const missing = isOwnFolder ? [] : missingForBare(root, (path) => places.isGuard(path));
  for await (const name of inSlices(missing, GUARD_WORK, loop)) places.protectEntry(root, name);
  if (missing.length > 0) return;
  // The root is git's own folder: nothing can be added to it that git would read.
  places.freeze(root);
  for await (const path of inSlices(barePlaces(root, userHome), GUARD_WORK, loop))
    if (statOf(path) !== null) places.protect(path);
}
