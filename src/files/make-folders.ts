import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasErrorCode } from '../base/system-error-code.ts';

/**
 * Makes a folder and those above it that are missing; one that is there is fine. (Node's own `recursive` never returns where
 * the system says of a folder's child that it cannot be, as in /proc.)
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const parent = dirname(path);
    if (hasErrorCode(error, ['ENOENT']) && parent !== path && !(await isFolder(parent))) {
      await makeFolders(parent);
      await mkdirUnlessThere(path);
    } else if (!(await isFolder(path))) throw error;
  }
}

/** Another process may just have made it. */
async function mkdirUnlessThere(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // What cannot be looked at cannot be made either, and making it has told why.
    return false;
  }
}
