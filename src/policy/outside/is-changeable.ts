import { relative, sep } from 'node:path';
import { isBelow, isWithin } from '../../base/paths/is-within.ts';

/**
 * Whether commands can change or have created the entry at a path. `roots` are the folders that
 * commands can write. The path and the roots are absolute and have no links. Commands cannot change
 * or create `.git` directly in a root, but they can create one in a deeper folder.
 */
export function isChangeable(path: string, roots: readonly string[]): boolean {
  return roots.some(
    (root) => isWithin(path, root) && relative(root, path).split(sep)[0] !== '.git',
  );
}

/**
 * Whether commands can replace a folder by another one. They cannot replace the roots themselves.
 */
export function isReplaceable(folder: string, roots: readonly string[]): boolean {
  return roots.some((root) => isBelow(folder, root));
}
