import type { BigIntStats } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LINKS_MAX } from '../base/paths/follow-path.ts';
import { isAbsent } from '../base/system-error-code.ts';

/** The real place of an entry of a folder. */
export interface FileLocation {
  /** Absolute and without links; it may not exist. */
  folder: string;
  name: string;
  /** The entry itself; null if there is none. */
  found: BigIntStats | null;
}

/** Locates the entry itself, even if it is a link. Rejects with the system's error. */
export async function locateEntry(path: string): Promise<FileLocation> {
  const folder = await realFolder(dirname(path));
  const name = basename(path);
  return { folder, name, found: await statOf(join(folder, name)) };
}

/**
 * Locates the file behind the links at a path; it need not exist. If more links follow than the
 * system allows, `found` is a link. Rejects with the system's error.
 */
export async function locateFile(path: string): Promise<FileLocation> {
  let location = await locateEntry(path);
  for (let links = 0; location.found?.isSymbolicLink() && links < LINKS_MAX; links++) {
    location = await locateEntry(resolve(location.folder, await readlink(pathOf(location))));
  }
  return location;
}

/** The absolute path of a location. */
export function pathOf({ folder, name }: Pick<FileLocation, 'folder' | 'name'>): string {
  return join(folder, name);
}

/** The existing part without links, and behind it the missing part. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // A link that leads nowhere exists, and folders made at its path would not be below it.
    if (!isAbsent(error) || path === dirname(path) || (await statOf(path)) !== null) throw error;
    return join(await realFolder(dirname(path)), basename(path));
  }
}

async function statOf(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
