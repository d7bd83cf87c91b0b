import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isEmptyGitFolder } from '../../base/files/is-empty-git-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';

const STICKY_AND_WRITABLE_BY_ALL = 0o1002;

export interface ProjectFolders {
  /**
   * The nearest folder with a `.git` that is not an empty folder, from the cwd upward, except
   * shared folders such as /tmp. Without one, the cwd itself.
   */
  root: string;
  isRepository: boolean;
  /** From the root down to the cwd, including both. */
  folders: string[];
}

/** Returns the folders of the project that `cwd` is in, with symbolic links resolved. */
export function projectFolders(cwd: string): ProjectFolders {
  const real = realPathOrSame(cwd);
  const folders: string[] = [];
  for (let folder = real; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (hasRepository(folder) && !isForEveryone(folder))
      return { root: folder, isRepository: true, folders };
    if (dirname(folder) === folder) return { root: real, isRepository: false, folders: [real] };
  }
}

function hasRepository(folder: string): boolean {
  const dotGit = join(folder, '.git');
  return existsSync(dotGit) && !isEmptyGitFolder(dotGit);
}

/**
 * Whether every user may create files in the folder. A `.git` there would let them give
 * instructions to threads below it.
 */
function isForEveryone(folder: string): boolean {
  // `folder` is a real path. If it has disappeared meanwhile, nothing in it counts.
  const mode = statOf(folder)?.mode ?? STICKY_AND_WRITABLE_BY_ALL;
  return (mode & STICKY_AND_WRITABLE_BY_ALL) === STICKY_AND_WRITABLE_BY_ALL;
}
