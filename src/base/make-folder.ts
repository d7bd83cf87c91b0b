import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isFolder } from './is-folder.ts';

/**
 * Makes a folder and those above it that are missing, each with this mode. Throws the system's error. (Node's own way,
 * `recursive`, never returns where the system says of a folder's child that it cannot be, as in /proc.)
 */
export function makeFolder(path: string, mode: number): void {
  // A path that cannot be looked at cannot be made either: mkdir throws why.
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !isFolder(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may just have made it.
    if (!isFolder(path)) throw error;
  }
}
