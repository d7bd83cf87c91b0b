import { join } from 'node:path';
import type { Env } from '../../../base/env.ts';
import { isEmptyGitFolder } from '../../../base/files/is-empty-git-folder.ts';
import { type GitFolder, gitFolder } from '../../../base/git/git-folder.ts';
import { foldersAbove } from '../../../base/paths/folders-above.ts';
import { resolveLinks } from '../../../base/paths/follow-path.ts';
import { possiblePaths } from '../../../policy/outside/named-paths.ts';
import { gitSettings, hooksPaths, userSettingsFiles } from './git-settings.ts';
import { hooksIn } from './hooks-in.ts';
import { repositoryRoot } from './repository-root.ts';

/** More places are not examined. */
const PLACES_MAX = 4096;
/** A folder with these entries is a repository for git, even without `.git`. */
const REPOSITORY_FILES = ['HEAD', 'config', 'objects', 'refs', 'commondir'];

/**
 * Returns the places that decide what git does in a folder: what makes a folder a repository, its
 * settings with those of the user and the included ones, the files that they name, and the hooks.
 * Returns null if there are too many, or if one cannot be read.
 */
export async function gitDependencies(folder: string, env: Env): Promise<string[] | null> {
  const above = foldersAbove(resolveLinks(folder));
  if (above === null) return null;
  const root = await repositoryRoot(above);
  const found = root === null ? null : await gitFolder(root);
  // git may use this repository although heddle does not.
  if (root !== null && found === null) return null;
  const settled = await settledPlaces(root ?? folder, found, env);
  if (settled === null) return null;
  const searched = root === null ? above : above.slice(0, above.indexOf(root) + 1);
  const bare = searched.flatMap((one) => REPOSITORY_FILES.map((name) => join(one, name)));
  // A command could make a repository of it.
  const empty = searched.map((one) => join(one, '.git')).filter(isEmptyGitFolder);
  const places = [
    ...bare,
    ...empty,
    ...settled,
    ...(root === null || found === null ? [] : [join(root, '.git'), found.own, found.shared]),
  ];
  return places.length > PLACES_MAX ? null : places;
}

/**
 * The files with settings, the files that these name, and the hooks. Null: some of them are
 * unknown.
 */
async function settledPlaces(
  from: string,
  found: GitFolder | null,
  env: Env,
): Promise<string[] | null> {
  const home = env.HOME ?? '';
  const own =
    found === null ? [] : [join(found.shared, 'config'), join(found.own, 'config.worktree')];
  const settings = await gitSettings([...userSettingsFiles(env), ...own], home);
  const named = settings === null ? null : hooksPaths(settings, { from, home });
  if (settings === null || named === null) return null;
  const folders = found === null ? named : [...named, join(found.shared, 'hooks')];
  const hooks = await Promise.all(folders.map(hookPaths));
  if (hooks.includes(null)) return null;
  const values = settings.entries.flatMap(({ value }) =>
    value === null ? [] : [value, value.replaceAll('~/', `${home}/`)],
  );
  return [
    ...settings.files,
    ...folders,
    ...hooks.flatMap((some) => some ?? []),
    ...possiblePaths(values, [from]),
  ];
}

async function hookPaths(folder: string): Promise<string[] | null> {
  return (await hooksIn(folder))?.map((name) => join(folder, name)) ?? null;
}
