import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder } from '../../../base/files/list-folder.ts';
import { resolveLinks } from '../../../base/paths/follow-path.ts';
import { isAbsent } from '../../../base/system-error-code.ts';
import { type GitConfigEntry, gitConfigEntries } from '../../../git/git-config-entries.ts';
import { gitFolder, readGitFile } from '../../../git/git-folder.ts';
import { gitIndexSubmodules } from '../../../git/git-index-submodules.ts';
import type { RepositoryFacts } from '../../../policy/outside/repository-facts.ts';
import { foldersAbove } from './folders-above.ts';

const CONFIG_BYTES_MAX = 256 * 1024;
const HOOKS_MAX = 1000;
const CAN_RUN = 0o111;
const NO_ENTRIES = { entries: [], cut: false };
/** A HEAD with which git takes a folder for a repository. */
const HEAD = /^(?:ref: *refs\/\S+|[0-9a-f]{40})\s*$/;

/** Returns the nearest folder that contains a `.git`, from a folder without links upwards. Returns null if there is none, or if the folder is too deep. */
async function repositoryRoot(folder: string): Promise<string | null> {
  for (const above of foldersAbove(folder) ?? []) if (await isThere(join(above, '.git'))) return above;
  return null;
}

/**
 * Returns what the files of the repository say that git finds from a folder without links. Nothing in it is run. `hooksFrom`
 * returns the folders of hooks that the user's own settings may name for a working tree. Returns null if there is no repository, or if
 * its `.git` does not belong to it.
 */
export async function repositoryFacts(folder: string, hooksFrom: (root: string) => readonly string[]): Promise<RepositoryFacts | null> {
  const root = await repositoryRoot(folder);
  const found = root === null ? null : await gitFolder(root);
  if (root === null || found === null) return null;
  const { own, shared } = found;
  const hookFolders = [join(shared, 'hooks'), ...hooksFrom(root)].map(resolveLinks);
  const [isComplete, settings, hooks, hasModules] = await Promise.all([
    isRepository(own, shared),
    repositorySettings(own, shared),
    Promise.all(hookFolders.map(runnableHooks)),
    isThere(join(root, '.gitmodules')),
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
  const folders = await Promise.all(['objects', 'refs'].map((name) => stat(join(shared, name)).catch(() => null)));
  return folders.every((found) => found?.isDirectory() === true) && HEAD.test((await readGitFile(own, 'HEAD')) ?? '');
}

async function repositorySettings(own: string, shared: string): Promise<GitConfigEntry[] | null> {
  const all: GitConfigEntry[] = [];
  for (const [folder, name] of [
    [shared, 'config'],
    [own, 'config.worktree'],
  ] as const) {
    const text = await readGitFile(folder, name, CONFIG_BYTES_MAX);
    if (text === null && (await isThere(join(folder, name)))) return null;
    const { entries, isUnderstood } = gitConfigEntries(text ?? '');
    if (!isUnderstood) return null;
    all.push(...entries);
  }
  return all;
}

/** Returns the names of the hooks that git would start. */
async function runnableHooks(folder: string): Promise<string[]> {
  const listed = await listFolder(folder, HOOKS_MAX).catch((error: unknown) => (isAbsent(error) ? NO_ENTRIES : null));
  // A folder that cannot be read, or only in part, may contain any hook.
  if (listed === null || listed.cut) return [folder];
  const hooks = listed.entries.map(({ name }) => name).filter((name) => !name.endsWith('.sample'));
  const modes = await Promise.all(hooks.map((name) => stat(join(folder, name)).catch(() => null)));
  return hooks.filter((_name, index) => ((modes[index]?.mode ?? 0) & CAN_RUN) !== 0);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}
