import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent } from '../../../base/system-error-code.ts';

/** Returns the first of the folders that contains a `.git`. Returns null if none does. */
export async function repositoryRoot(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) if (await mayExist(join(folder, '.git'))) return folder;
  return null;
}

/** Whether something is at a path, or the system does not say that nothing is there. */
export async function mayExist(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}
