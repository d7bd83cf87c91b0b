import { relative, sep } from 'node:path';
import { isBelow, isWithin } from '../../base/paths/is-within.ts';

/**
 * Whether commands can change what is at a path, or have made it. `roots` are the folders that they can write. The path and the
 * roots are absolute and have no links. Commands cannot change `.git` directly in a root, whether it exists or not. Deeper ones
 * they can make.
 */
export function isChangeable(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root) && relative(root, path).split(sep)[0] !== '.git');
}

/** Whether commands can put another folder at the path of a folder. They cannot replace the roots themselves. */
export function isReplaceable(folder: string, roots: readonly string[]): boolean {
  return roots.some((root) => isBelow(folder, root));
}
