import { relative, sep } from 'node:path';
import { PROTECTED_NAMES, type SandboxBounds } from './sandbox-bounds.ts';

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/**
 * Whether the bounds let a file be written: below a writable root, with no protected name between, and not in the home but for
 * a root that lies inside it. The path and the roots are absolute, both with their links resolved or both as they were named.
 */
export function isWritable(path: string, { writableRoots, home }: Pick<SandboxBounds, 'writableRoots' | 'home'>): boolean {
  return rootsFor(path, writableRoots, home).some((root) => !hasProtectedName(path, root));
}

/** Whether the bounds let a file be read. What can be written can be read; of the home only what a root inside it holds. */
export function isReadable(path: string, { readable, writableRoots, home }: Omit<SandboxBounds, 'network'>): boolean {
  const roots = readable === 'everything' ? writableRoots : [...readable.roots, ...writableRoots];
  if (readable === 'everything' && !isWithin(path, home)) return true;
  return rootsFor(path, roots, home).length > 0;
}

/** Whether the path is the folder or lies somewhere below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && way !== path);
}

function rootsFor(path: string, roots: readonly string[], home: string): string[] {
  return roots.filter((root) => isWithin(path, root) && (!isWithin(path, home) || (isWithin(root, home) && root !== home)));
}

/** Names count in any case: some file systems do not tell them apart. */
function hasProtectedName(path: string, root: string): boolean {
  const names = relative(root, path).split(sep);
  return names.some((name) => PROTECTED.has(name.toLowerCase()));
}
