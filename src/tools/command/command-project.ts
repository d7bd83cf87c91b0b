import { isWithin } from '../../base/paths/is-within.ts';
import { projectFolders } from '../../config/trust/project-folders.ts';

/**
 * Returns the root of the project that a command runs in, as a real path: the nearest repository of
 * its working directory. Without a repository, it is the root of the thread's project if the
 * directory is in it, else the directory itself.
 */
export function commandProject(cwd: string, threadCwd: string): string {
  const { root, isRepository } = projectFolders(cwd);
  if (isRepository) return root;
  const ofThread = projectFolders(threadCwd).root;
  return isWithin(root, ofThread) ? ofThread : root;
}
