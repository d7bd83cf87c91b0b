import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isEmptyGitFolder } from '../../../base/files/is-empty-git-folder.ts';
import { isAbsent } from '../../../base/system-error-code.ts';

/**
 * Returns the first of the folders that contains a `.git` other than an empty folder. Returns null
 * if none does.
 */
export async function repositoryRoot(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const dotGit = join(folder, '.git');
    if ((await mayExist(dotGit)) && !isEmptyGitFolder(dotGit)) return folder;
  }
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
