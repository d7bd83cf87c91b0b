import { isAbsolute } from 'node:path';
import { isChangeable, isReplaceable } from './is-changeable.ts';
import type { GitUse } from './plain-git.ts';
import type { GitSetting, RepositoryFacts } from './repository-facts.ts';

export interface GitPlace {
  /** The folder that git runs in, without links. */
  folder: string;
  /** Null: git finds no repository, or its `.git` does not belong to the working tree. */
  repository: RepositoryFacts | null;
  /** The folders that commands can write, without links. */
  roots: readonly string[];
  /** The real paths of local remotes, by the path in the settings. */
  realPaths: ReadonlyMap<string, string>;
}

/**
 * Returns the reason why git may run code of commands if it works in this folder. Returns null if
 * it does not: commands cannot change which repository git finds, nor the repository's settings and
 * hooks, and these start no program.
 */
export function gitDoubt(
  use: GitUse,
  { folder, repository, roots, realPaths }: GitPlace,
): string | null {
  if (isReplaceable(folder, roots))
    return `git looks for a repository from ${folder}, which commands can replace`;
  if (repository === null) return `heddle cannot tell which repository git uses in ${folder}`;
  const { root, own, shared, isComplete, settings, hookFolders, hooks, hasSubmodules } = repository;
  // Commands can create files that make a folder a repository without `.git`.
  if (root !== folder && isChangeable(folder, roots))
    return `commands can make a repository in ${folder}`;
  if (!isComplete) return `${own} is not a complete repository`;
  const changeable = [own, shared, ...hookFolders].find((path) => isChangeable(path, roots));
  if (changeable !== undefined) return `commands can change ${changeable}`;
  if (settings === null) return `the settings of ${shared} cannot be read`;
  const setting = settings.find((one) => !isPlain(one, { settings, roots, realPaths }));
  if (setting !== undefined)
    return `the setting ${nameOf(setting)} in ${shared} may start a program or lead elsewhere`;
  if (hooks[0] !== undefined)
    return `the hook ${hooks[0]} of ${shared} may run files that commands can change`;
  if (hasSubmodules !== false)
    return `${root} has, or may have, submodules with settings of their own`;
  const remote = use.remotes.find((name) => !isRemote(name, settings));
  return remote === undefined
    ? null
    : `${remote} is not one of the remotes in the settings of ${shared}`;
}

/** Settings that start no program and name no file, by section. */
const PLAIN: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    advice: 'addembeddedrepo detachedhead pushupdaterejected statushints',
    branch:
      'description merge pushremote rebase remote gh-merge-base github-pr-owner-number vscode-merge-base',
    color: 'branch diff status ui',
    commit: 'gpgsign verbose',
    core:
      'abbrev autocrlf bigfilethreshold compression eol filemode ignorecase logallrefupdates precomposeunicode quotepath ' +
      'repositoryformatversion safecrlf sharedrepository symlinks trustctime untrackedcache whitespace',
    diff: 'algorithm colormoved context mnemonicprefix noprefix renames',
    fetch: 'prune prunetags',
    gc: 'auto',
    init: 'defaultbranch',
    merge: 'conflictstyle ff',
    pull: 'ff rebase',
    push: 'autosetupremote default followtags',
    rebase: 'autosquash autostash',
    remote: 'fetch gh-resolved prune pushurl tagopt url',
    rerere: 'enabled',
    tag: 'gpgsign',
    user: 'email name signingkey',
  }).map(([section, keys]) => [section, new Set(keys.split(' '))]),
);

type Places = Pick<GitPlace, 'roots' | 'realPaths'> & { settings: readonly GitSetting[] };

function isPlain(setting: GitSetting, places: Places): boolean {
  const { section, key, value } = setting;
  if (section === 'core' && key === 'bare') return value === 'false';
  if (PLAIN.get(section)?.has(key) !== true) return false;
  if (section === 'remote' && (key === 'url' || key === 'pushurl'))
    return isPlainAddress(value ?? '', places);
  // A branch may name a remote by its address.
  if (section === 'branch' && (key === 'remote' || key === 'pushremote'))
    return value === '.' || isRemote(value ?? '', places.settings);
  return true;
}

function isRemote(name: string, settings: readonly GitSetting[]): boolean {
  return settings.some(
    ({ section, subsection, key }) => section === 'remote' && key === 'url' && subsection === name,
  );
}

/**
 * Whether the address of a remote is on another machine, or is a local path that commands cannot
 * change.
 */
function isPlainAddress(address: string, { roots, realPaths }: Places): boolean {
  if (/^(?:https?|ssh|git):\/\/[^-/]/.test(address)) return true;
  if (/^[\w.][\w.@-]*:(?![:-]|\/\/)/.test(address)) return true;
  const real = realPaths.get(localPath(address));
  return real !== undefined && !isChangeable(real, roots);
}

/**
 * Returns the absolute path of a remote on this machine. Returns an empty string for other
 * addresses.
 */
export function localPath(address: string): string {
  const path = address.startsWith('file://') ? address.slice('file://'.length) : address;
  return isAbsolute(path) ? path : '';
}

function nameOf({ section, subsection, key }: GitSetting): string {
  return [section, ...(subsection === null ? [] : [subsection]), key].join('.');
}
