import { relative, sep } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';
import { type HiddenFiles, isHidden } from './hidden-files.ts';
import { HOME_PROTECTED, isHomeSecret, isOfHome } from './home-readable.ts';
import { PROTECTED_NAMES, type SandboxBounds } from './sandbox-bounds.ts';

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/**
 * Whether the bounds allow a file to be written. It must be below a writable root, with no
 * protected name in between. In the home, the root must be in the home too. The path and the roots
 * are absolute, and either all have their links resolved or none.
 */
export function isWritable(
  path: string,
  {
    writableRoots,
    home,
    linkedSecrets,
    hidden,
  }: Pick<SandboxBounds, 'writableRoots' | 'home' | 'linkedSecrets' | 'hidden'>,
): boolean {
  if (isSecret(path, { home, linkedSecrets, hidden })) return false;
  return rootsFor(path, writableRoots, home).some(
    (root) =>
      !hasProtectedName(path, root) && !(root === home && isOfHome(path, home, HOME_PROTECTED)),
  );
}

type FolderBounds = Omit<SandboxBounds, 'network' | 'unixSockets' | 'unprotected'>;

/**
 * Whether the bounds allow a file to be read. Writable files are readable. In the home, only files
 * below a root in it are.
 */
export function isReadable(
  path: string,
  { readable, writableRoots, workspace, home, linkedSecrets, hidden }: FolderBounds,
): boolean {
  if (isSecret(path, { home, linkedSecrets, hidden })) return false;
  if (readable === 'everything' && !isWithin(path, home)) return true;
  const roots = readable === 'everything' ? [] : readable.roots;
  return rootsFor(path, [...roots, ...workspace, ...writableRoots], home).length > 0;
}

interface Secrets {
  home: string;
  linkedSecrets: readonly string[] | undefined;
  hidden: readonly HiddenFiles[] | undefined;
}

function isSecret(path: string, { home, linkedSecrets = [], hidden = [] }: Secrets): boolean {
  return (
    isHomeSecret(path, home) ||
    linkedSecrets.some((secret) => isWithin(path, secret)) ||
    isHidden(path, hidden)
  );
}

function rootsFor(path: string, roots: readonly string[], home: string): string[] {
  return roots.filter(
    (root) => isWithin(path, root) && (!isWithin(path, home) || isWithin(root, home)),
  );
}

/** Ignores case, because some file systems do. */
function hasProtectedName(path: string, root: string): boolean {
  const names = relative(root, path).split(sep);
  return names.some((name) => PROTECTED.has(name.toLowerCase()));
}
