import { relative, sep } from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { HOME_KEPT, HOME_SECRETS, isOfHome } from './home-readable.ts';
import { PROTECTED_NAMES, type SandboxBounds } from './sandbox-bounds.ts';

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/**
 * Whether the bounds let a file be written: below a writable root, with no protected name between, and not in the home but for
 * a root that lies inside it. The path and the roots are absolute, both with their links resolved or both as they were named.
 */
export function isWritable(path: string, { writableRoots, home }: Pick<SandboxBounds, 'writableRoots' | 'home'>): boolean {
  if (isOfHome(path, home, HOME_SECRETS)) return false;
  return rootsFor(path, writableRoots, home).some(
    (root) => !hasProtectedName(path, root) && !(root === home && isOfHome(path, home, HOME_KEPT)),
  );
}

/** Whether the bounds let a file be read. What can be written can be read; of the home only what a root in it holds, and no secret. */
export function isReadable(path: string, { readable, writableRoots, workspace, home }: Omit<SandboxBounds, 'network'>): boolean {
  if (isOfHome(path, home, HOME_SECRETS)) return false;
  if (readable === 'everything' && !isWithin(path, home)) return true;
  const roots = readable === 'everything' ? [] : readable.roots;
  return rootsFor(path, [...roots, ...workspace, ...writableRoots], home).length > 0;
}

function rootsFor(path: string, roots: readonly string[], home: string): string[] {
  return roots.filter((root) => isWithin(path, root) && (!isWithin(path, home) || isWithin(root, home)));
}

/** Names count in any case: some file systems do not tell them apart. */
function hasProtectedName(path: string, root: string): boolean {
  const names = relative(root, path).split(sep);
  return names.some((name) => PROTECTED.has(name.toLowerCase()));
}
