import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** How many links are followed that lead to where nothing is. */
const LINKS_MAX = 40;

/** Where an absolute path leads once links are followed; what does not exist, or cannot be looked at, is taken as it is named. */
export function realPath(path: string): string {
  return followed(path, 0);
}

/**
 * The path by which somebody is asked about a file, so that whoever allows it sees what is allowed: where it really leads. One
 * in the working folder without a link of its own stays as it is, also where the folder itself is reached by one.
 */
export function shownPath(path: string, cwd: string): string {
  const real = realPath(path);
  const below = relative(cwd, path);
  const isBelow = !below.startsWith('..') && resolve(cwd, below) === path;
  return isBelow && real === join(realPath(cwd), below) ? path : real;
}

function followed(path: string, links: number): string {
  const real = orNull(() => realpathSync(path));
  const parent = dirname(path);
  if (real !== null || parent === path) return real ?? path;
  const target = links < LINKS_MAX ? orNull(() => readlinkSync(path)) : null;
  return target === null ? join(followed(parent, links), basename(path)) : followed(resolve(parent, target), links + 1);
}

/** Null where the system refuses: there is nothing, or nothing to be seen. */
function orNull(look: () => string): string | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
