import { dirname, join, resolve } from 'node:path';
import { isEmptyGitFolder } from '../../base/files/is-empty-git-folder.ts';
import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { textOf } from '../../base/files/text-of.ts';
import { gitConfigEntries, isInclude } from '../../base/git/git-config-entries.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isLink } from '../../base/paths/is-link.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { gitIndexSubmodulePaths } from '../../git/git-index-submodules.ts';
import { ProcessStartError } from '../processes/processes.ts';

/**
 * The entries of git's folder that can make git run programs. Each can be a link to another place.
 */
const RUNS_PROGRAMS = ['config', 'config.worktree', 'hooks', 'commondir'];
/** The entries that make a folder a repository without a work tree. */
const BARE_LAYOUT = ['HEAD', 'objects', 'refs'];
/** The content of HEAD in a folder that git accepts as a repository. */
const HEAD = /^(?:ref: *refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*$/;
const POINTER_BYTES_MAX = 64 * 1024;
/** The total size of the configuration files of one repository. */
const CONFIG_BYTES_MAX = 128 * 1024;
/** The number of configuration files of one repository that are read. */
const CONFIGS_MAX = 16;

/**
 * Returns the paths from which git reads what it runs in the repository of a `.git`, which may be a
 * folder, a file or a link: the `.git` itself, the folders that it names, and the configuration
 * files that are included. The paths may contain links, and need not exist. Returns none if there
 * is no `.git`. Throws a `ProcessStartError` if a configuration is too large to be read.
 */
export function gitPlaces(dotGit: string, userHome: string | null): string[] {
  const stat = statOf(dotGit);
  if (stat === null) return [];
  const folder = stat.isDirectory() ? dotGit : namedGitFolder(dotGit);
  const common = pointer(join(folder, 'commondir'), '');
  const folders = [folder, ...(common === null ? [] : [resolve(folder, common)])];
  const linked = folders
    .flatMap((one) => RUNS_PROGRAMS.map((name) => join(one, name)))
    .filter(isLink);
  return [...new Set([dotGit, ...folders, ...linked, ...includedFiles(folders, userHome)])];
}

/**
 * Returns the `.git` of each submodule of the repository of a `.git` in a real folder: git also
 * runs there. A submodule need not be checked out: then a command could make it a repository of its
 * own.
 */
export async function submodulePlaces(dotGit: string): Promise<string[]> {
  // Resolving a deep path takes long, and the path of a folder has no links here.
  const folder =
    statOf(dotGit)?.isDirectory() === true ? dotGit : resolveLinks(namedGitFolder(dotGit));
  const paths = (await gitIndexSubmodulePaths(folder)) ?? namedSubmodules(dirname(dotGit));
  return paths
    .filter((path) => !path.split('/').includes('..'))
    .map((path) => join(dirname(dotGit), path, '.git'));
}

function namedSubmodules(root: string): string[] {
  const { entries } = gitConfigEntries(textOf(join(root, '.gitmodules'), CONFIG_BYTES_MAX) ?? '');
  return entries.flatMap(({ section, key, value }) =>
    section === 'submodule' && key === 'path' && value !== null ? [value] : [],
  );
}

/**
 * Returns the paths in a folder from which git would read what it runs if the folder is a
 * repository without a work tree.
 */
export function barePlaces(folder: string, userHome: string | null): string[] {
  return [...BARE_LAYOUT, ...RUNS_PROGRAMS]
    .map((name) => join(folder, name))
    .concat(includedFiles([folder], userHome));
}

/** Whether a folder with these entries is laid out as a repository without a work tree. */
export function isBareLayout(names: ReadonlySet<string>): boolean {
  return BARE_LAYOUT.every((name) => names.has(name));
}

/** Whether an entry with this name is part of the layout of a repository without a work tree. */
export function isBareName(name: string): boolean {
  return BARE_LAYOUT.includes(name);
}

/**
 * Returns the names of entries that a folder lacks to be a repository: as long as they cannot be
 * created, the folder cannot become one. Returns none if the folder is one already.
 */
export function missingForBare(folder: string, isGuard: (path: string) => boolean): string[] {
  const isMissing = (name: string) =>
    statOf(join(folder, name)) === null || isGuard(join(folder, name));
  const [head = 'HEAD', ...folders] = BARE_LAYOUT;
  const missing = folders.findLast(isMissing);
  // In a folder of a repository, an entry with this name would make `git log HEAD` ambiguous.
  if (isMissing(head) && (missing === undefined || !isInRepository(folder))) return [head];
  // `commondir` could name a folder elsewhere that has the others.
  return missing === undefined ? [] : ['commondir', missing];
}

function isInRepository(folder: string): boolean {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    const dotGit = join(above, '.git');
    if (statOf(dotGit) !== null && !isEmptyGitFolder(dotGit)) return true;
  }
  return false;
}

/** Whether git accepts the folder of a `.git` as a repository. False if that is not certain. */
export function isRepository(dotGit: string): boolean {
  const folder = namedGitFolder(dotGit);
  const common = pointer(join(folder, 'commondir'), '');
  const shared = common === null ? folder : resolve(folder, common);
  const folders = ['objects', 'refs'].map((name) => statOf(join(shared, name)));
  return (
    HEAD.test(textOf(join(folder, 'HEAD'), POINTER_BYTES_MAX) ?? '') &&
    folders.every((stat) => stat?.isDirectory() === true)
  );
}

/**
 * Returns the folder that a `.git` names, even if it does not exist. In a worktree or submodule,
 * `.git` is a file that names the folder. `gitFolder` in git/ accepts only a folder that belongs to
 * the working tree. This function also returns other folders, because git would use them and
 * commands must not change them.
 */
function namedGitFolder(dotGit: string): string {
  const real = resolveLinks(dotGit);
  const named = statOf(real)?.isDirectory() === true ? null : pointer(real, 'gitdir: ');
  return named === null ? real : resolve(dirname(real), named);
}

/** Returns the path that a small file names, or null if it names none. */
function pointer(file: string, prefix: string): string | null {
  const text = textOf(file, POINTER_BYTES_MAX);
  // git reads the path up to a NUL.
  const [named = ''] =
    text?.startsWith(prefix) === true ? text.slice(prefix.length).split('\0') : [];
  const path = named.replace(/[\r\n]+$/, '');
  return path === '' ? null : path;
}

function includedFiles(folders: readonly string[], userHome: string | null): string[] {
  const files = new Set(
    folders.flatMap((folder) => [join(folder, 'config'), join(folder, 'config.worktree')]),
  );
  const own = files.size;
  let left = CONFIG_BYTES_MAX;
  // The loop also reads the files that it adds.
  for (const file of files) {
    const text = configText(file, left) ?? '';
    left -= text.length;
    for (const value of includes(text))
      for (const path of includedPaths(file, value, userHome)) files.add(path);
    if (files.size > CONFIGS_MAX)
      throw new ProcessStartError(
        `${file}: the git configuration includes more than ${CONFIGS_MAX} files`,
      );
  }
  return [...files].slice(own);
}

/** Returns the values of all settings that include a file. */
function includes(text: string): string[] {
  if (!/include/i.test(text)) return [];
  return gitConfigEntries(text).entries.flatMap((entry) =>
    isInclude(entry) && entry.value !== null ? [entry.value] : [],
  );
}

/**
 * Versions of git differ in blanks, and in which folder a relative path starts from if the file is
 * behind a link.
 */
function includedPaths(file: string, value: string, userHome: string | null): string[] {
  const named = value.split('\0')[0] ?? '';
  if (named === '') return [];
  if (named.startsWith('~/')) return userHome === null ? [] : [join(userHome, named.slice(2))];
  if (named.startsWith('~'))
    throw new ProcessStartError(
      `${file}: ${named} in this git configuration could not be protected`,
    );
  const folders = [dirname(file), dirname(resolveLinks(file))];
  return [
    ...new Set(
      [named, named.replace(/\s/g, ' ')].flatMap((path) =>
        folders.map((folder) => resolve(folder, path)),
      ),
    ),
  ];
}

/**
 * Returns the text of a configuration. Returns null if git cannot read it either: a missing file, a
 * folder, a pipe, a device.
 */
function configText(path: string, bytesMax: number): string | null {
  try {
    return readRegularFileSync(path, { bytesMax })?.bytes.toString('utf8') ?? null;
  } catch (error) {
    if (!(error instanceof FileTooLargeError)) return null;
    throw new ProcessStartError(
      `${path}: this git configuration could not be protected: ${error.message}`,
      { cause: error },
    );
  }
}
