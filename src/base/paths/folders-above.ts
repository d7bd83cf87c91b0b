import { dirname } from 'node:path';

/** The maximum number of folders in which programs look for their files. */
const FOLDERS_MAX = 64;

/**
 * Returns an absolute path and the folders above it, the nearest first. Returns null if there are
 * more than `max` of them.
 */
export function foldersAbove(folder: string, max = FOLDERS_MAX): string[] | null {
  const all = [folder];
  for (let at = folder; at !== dirname(at); ) {
    if (all.length === max) return null;
    at = dirname(at);
    all.push(at);
  }
  return all;
}
