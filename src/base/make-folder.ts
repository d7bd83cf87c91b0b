import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isFolder } from './is-folder.ts';

/**
 * Makes a folder and the missing folders above it, each with this mode. Throws the system's error. (Node's own option,
 * `recursive`, never returns if a folder cannot have such a child, as in /proc.)
 */
export function makeFolder(path: string, mode: number): void {
  // A path that cannot be looked at cannot be made either: mkdir throws why.
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !isFolder(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it just now.
    if (!isFolder(path)) throw error;
  }
}
