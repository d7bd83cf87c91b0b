import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** How many links are followed that lead to where nothing is. */
const LINKS_MAX = 40;

/**
 * Where an absolute path leads once links are followed, so that whoever allows it sees what is allowed; what does not exist
 * yet, or cannot be looked at, is taken as it is named. A path of the working folder without a link of its own stays as it
 * is, also where the folder itself is reached by one.
 */
export async function realPlace(path: string, cwd: string): Promise<string> {
  const real = await followed(path);
  const below = relative(cwd, path);
  const isBelow = !below.startsWith('..') && resolve(cwd, below) === path;
  return isBelow && real === join(await followed(cwd), below) ? path : real;
}

async function followed(path: string, links = 0): Promise<string> {
  const real = await orNull(realpath(path));
  const parent = dirname(path);
  if (real !== null || parent === path) return real ?? path;
  const target = links < LINKS_MAX ? await orNull(readlink(path)) : null;
  return target === null ? join(await followed(parent, links), basename(path)) : followed(resolve(parent, target), links + 1);
}

/** Null where the system refuses: there is nothing, or nothing to be seen. */
async function orNull(looked: Promise<string>): Promise<string | null> {
  try {
    return await looked;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
