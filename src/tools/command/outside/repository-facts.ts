import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitConfigEntry, gitConfigEntries } from '../../../base/git/git-config-entries.ts';
import { gitFolder, readGitFile } from '../../../base/git/git-folder.ts';
import { foldersAbove } from '../../../base/paths/folders-above.ts';
import { resolveLinks } from '../../../base/paths/follow-path.ts';
import { gitIndexSubmodules } from '../../../git/git-index-submodules.ts';
import type { RepositoryFacts } from '../../../policy/outside/repository-facts.ts';
import { hooksIn } from './hooks-in.ts';
import { mayExist, repositoryRoot } from './repository-root.ts';

const CONFIG_BYTES_MAX = 256 * 1024;
const CAN_RUN = 0o111;
/** A HEAD with which git takes a folder for a repository. */
const HEAD = /^(?:ref: *refs\/\S+|[0-9a-f]{40})\s*$/;

/**
 * Returns what the files of the repository say that git finds from a folder without links. Nothing
 * in it is run. `hooksFrom` returns the folders of hooks that the user's own settings may name for
 * a working tree. Returns null if there is no repository, or if its `.git` does not belong to it.
 */
export async function repositoryFacts(
  folder: string,
  hooksFrom: (root: string) => readonly string[],
): Promise<RepositoryFacts | null> {
  const root = await repositoryRoot(foldersAbove(folder) ?? []);
  const found = root === null ? null : await gitFolder(root);
  if (root === null || found === null) return null;
  const { own, shared } = found;
  const hookFolders = [join(shared, 'hooks'), ...hooksFrom(root)].map(resolveLinks);
  const [isComplete, settings, hooks, hasModules] = await Promise.all([
    isRepository(own, shared),
    repositorySettings(own, shared),
    Promise.all(hookFolders.map(runnableHooks)),
    mayExist(join(root, '.gitmodules')),
  ]);
  return {
    root,
    own,
    shared,
    isComplete,
    settings,
    hookFolders,
    hooks: hooks.flat(),
    hasSubmodules: hasModules || (await gitIndexSubmodules(own)),
  };
}

async function isRepository(own: string, shared: string): Promise<boolean> {
  const folders = await Promise.all(
    ['objects', 'refs'].map((name) => stat(join(shared, name)).catch(() => null)),
  );
  return (
    folders.every((found) => found?.isDirectory() === true) &&
    HEAD.test((await readGitFile(own, 'HEAD')) ?? '')
  );
}

async function repositorySettings(own: string, shared: string): Promise<GitConfigEntry[] | null> {
  const all: GitConfigEntry[] = [];
  for (const [folder, name] of [
    [shared, 'config'],
    [own, 'config.worktree'],
  ] as const) {
    const text = await readGitFile(folder, name, CONFIG_BYTES_MAX);
    if (text === null && (await mayExist(join(folder, name)))) return null;
    const { entries, isUnderstood } = gitConfigEntries(text ?? '');
    if (!isUnderstood) return null;
    for (const entry of entries) all.push(entry);
  }
  return all;
}

/** Returns the names of the hooks that git would start. */
async function runnableHooks(folder: string): Promise<string[]> {
  const hooks = await hooksIn(folder);
  // A folder that cannot be read, or only in part, may contain any hook.
  if (hooks === null) return [folder];
  const modes = await Promise.all(hooks.map((name) => stat(join(folder, name)).catch(() => null)));
  return hooks.filter((_name, index) => ((modes[index]?.mode ?? 0) & CAN_RUN) !== 0);
}
