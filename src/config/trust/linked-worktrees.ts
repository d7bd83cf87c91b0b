import { dirname, join, resolve } from 'node:path';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { gitFolder, readGitFile } from '../../base/git/git-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { projectFolders } from './project-folders.ts';

/** How many linked worktrees of a repository heddle looks at. */
const WORKTREES_MAX = 256;

/**
 * The main checkout of a linked worktree (`git worktree add`): the folder whose `.git` is the
 * folder of the repository. Null if `root`, a real path, is not the root of one. The repository has
 * to name the worktree in turn: everyone can write a `.git` file that names a repository.
 */
export async function mainCheckout(root: string): Promise<string | null> {
  const git = await gitFolder(root);
  // A submodule and a main checkout share nothing.
  if (git === null || git.own === git.shared) return null;
  const main = dirname(git.shared);
  const isMain =
    git.shared === join(main, '.git') && dirname(git.own) === join(git.shared, 'worktrees');
  return isMain && projectFolders(main).root === main ? main : null;
}

/**
 * The roots of the linked worktrees of a main checkout, a real path: those that name the
 * repository, and that it names.
 */
export async function linkedWorktrees(main: string): Promise<string[]> {
  const git = join(main, '.git');
  const roots: string[] = [];
  for (const name of worktreeNames(join(git, 'worktrees'))) {
    const dotGit = (await readGitFile(git, `worktrees/${name}/gitdir`))?.split('\n')[0]?.trimEnd();
    if (dotGit === undefined) continue;
    // git can write a path relative to this folder.
    const root = realPathOrSame(dirname(resolve(git, 'worktrees', name, dotGit)));
    if ((await mainCheckout(root)) === main) roots.push(root);
  }
  return roots;
}

function worktreeNames(folder: string): string[] {
  try {
    return listFolderSync(folder, WORKTREES_MAX).entries.map(({ name }) => name);
  } catch {
    // There is none, or it cannot be listed. Then none of its files is trusted.
    return [];
  }
}
