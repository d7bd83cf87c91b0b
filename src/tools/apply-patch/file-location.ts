import type { BigIntStats } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isAbsent } from '../../base/system-error-code.ts';
import { PatchError } from './patch-error.ts';

/** As many links as the system follows: behind more, there is no file. */
const LINKS_MAX = 40;

/** Where an entry of a folder really is. */
export interface FileLocation {
  /** Absolute and without links; it may not exist. */
  folder: string;
  name: string;
  /** What is there; null: nothing. */
  found: BigIntStats | null;
}

/** Where the entry itself is, be it a link or not. Rejects with the system's error. */
export async function locateEntry(path: string): Promise<FileLocation> {
  const folder = await realFolder(dirname(path));
  const name = basename(path);
  return { folder, name, found: await stated(join(folder, name)) };
}

/** Where the file is whose content is at this path, behind whatever links, there or not. Rejects with the system's error. */
export async function locateFile(path: string): Promise<FileLocation> {
  let place = await locateEntry(path);
  for (let links = 0; place.found?.isSymbolicLink() && links < LINKS_MAX; links++) {
    place = await locateEntry(resolve(place.folder, await readlink(pathOf(place))));
  }
  if (place.found?.isSymbolicLink()) throw new PatchError(`${path} is a link that leads to no end`);
  return place;
}

/** Where it is, without links. */
export function pathOf({ folder, name }: Pick<FileLocation, 'folder' | 'name'>): string {
  return join(folder, name);
}

/** What of it exists, without links, and behind that what does not. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // A link that leads nowhere is there, and making folders at its path would not be below it.
    if (!isAbsent(error) || path === dirname(path) || (await stated(path)) !== null) throw error;
    return join(await realFolder(dirname(path)), basename(path));
  }
}

async function stated(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
