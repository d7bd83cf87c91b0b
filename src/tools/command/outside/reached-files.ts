import { basename, dirname, isAbsolute } from 'node:path';
import { listFolder } from '../../../base/files/list-folder.ts';
import { hasErrorCode, systemErrorCode } from '../../../base/system-error-code.ts';
import { locateFile, pathOf } from '../../../files/file-location.ts';

/** More folders are not examined. */
const FOLDERS_MAX = 48;
/** More paths are not examined. */
const PATHS_MAX = 6000;
/** Of a larger folder, the entries are not examined. */
const ENTRIES_MAX = 20_000;
/** More parts of one word are not examined. */
const PARTS_MAX = 12;
const BATCH = 16;

export interface ReachingWords {
  /** The absolute paths of the folders that a line starts in. */
  starts: readonly string[];
  /** Words that may name files or folders. */
  words: Iterable<string>;
  /** Words that may name folders only. */
  places: Iterable<string>;
  /** Words that may name a file without the end of its name, as `x` names `x.py`. */
  stems: Iterable<string>;
}

export interface ReachedFiles {
  /** The real paths of the folders. */
  folders: string[];
  /** The paths that the words may stand for. */
  files: string[];
}

/**
 * Returns all files that words may stand for, if each folder that one of them names may be the one
 * that another one starts from, and if the beginning of each word may have been moved there:
 * `sub/x`, `x` and `t/x` all name `x` in the folder `sub`. Returns null if there are too many, or
 * if a folder cannot be read.
 */
export async function reachedFiles({
  starts,
  words,
  places,
  stems,
}: ReachingWords): Promise<ReachedFiles | null> {
  const named = variants(words);
  const entered = new Set([...named, ...variants(places), ...[...words, ...places].flatMap(above)]);
  const folders = await reachedFolders(starts, entered);
  if (folders === null || folders.length * named.size > PATHS_MAX) return null;
  const stemmed = [...stemVariants(stems)];
  const ends = await withEnds(
    folders.flatMap((folder) => stemmed.map((word) => pathIn(folder, word))),
  );
  const files = new Set(
    folders.flatMap((folder) => [...named].map((word) => pathIn(folder, word))),
  );
  return ends === null ? null : { folders, files: [...files, ...ends] };
}

/**
 * Returns the real paths of the folders that can be reached by any sequence of the words. Null:
 * there are too many.
 */
async function reachedFolders(
  starts: readonly string[],
  words: ReadonlySet<string>,
): Promise<string[] | null> {
  const folders = new Set<string>();
  for (const start of starts) folders.add((await folderAt(start)) ?? start);
  // The set grows while it is read: a folder may have further ones.
  for (const folder of folders) {
    for (const one of await foldersAt([...words].map((word) => pathIn(folder, word))))
      folders.add(one);
    if (folders.size > FOLDERS_MAX || words.size * folders.size > PATHS_MAX) return null;
  }
  return [...folders];
}

async function foldersAt(paths: readonly string[]): Promise<string[]> {
  const found: (string | null)[] = [];
  for (let at = 0; at < paths.length; at += BATCH)
    found.push(...(await Promise.all(paths.slice(at, at + BATCH).map(folderAt))));
  return found.filter((one) => one !== null).filter((one) => one !== '/');
}

/**
 * The words themselves and their ends, since what stands before may be the name of a folder that is
 * moved or mounted.
 */
function variants(words: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const word of words) {
    if (!isName(word)) continue;
    all.add(word);
    const parts = word.split('/').filter((part) => part !== '');
    for (let at = isAbsolute(word) ? 0 : 1; at < Math.min(parts.length, PARTS_MAX); at++)
      all.add(parts.slice(at).join('/'));
  }
  return all;
}

/** The same, and the paths of modules: `a.b` and `a::b` name `a/b`. */
function stemVariants(words: Iterable<string>): Set<string> {
  const all = [...words];
  return variants([
    ...all,
    ...all
      .filter((word) => /^\w+(?:(?:\.|::)\w+)+$/.test(word))
      .map((word) => word.replace(/\.|::/g, '/')),
  ]);
}

/**
 * The folders above the entry that a word names: all of a relative path, and the nearest of an
 * absolute one.
 */
function above(word: string): string[] {
  if (!isName(word) || !word.includes('/')) return [];
  if (isAbsolute(word)) return [dirname(word)];
  const parts = word.split('/');
  return parts
    .slice(0, PARTS_MAX)
    .flatMap((_part, at) => (at === 0 ? [] : [parts.slice(0, at).join('/')]));
}

function isName(word: string): boolean {
  return word !== '' && word !== '.' && word !== '/' && !word.includes('\0');
}

/** Without resolving `..`: behind a link, it is another folder. */
function pathIn(folder: string, word: string): string {
  return isAbsolute(word) ? word : `${folder}/${word}`;
}

/** The real path of the folder at a path. Null: it is none. */
async function folderAt(path: string): Promise<string | null> {
  try {
    const location = await locateFile(path);
    return location.found?.isDirectory() === true ? pathOf(location) : null;
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return null;
  }
}

/**
 * The entries whose names begin with those of the paths and a dot. Null: a folder is too large, or
 * cannot be read.
 */
async function withEnds(paths: readonly string[]): Promise<string[] | null> {
  const byFolder = new Map<string, Set<string>>();
  for (const path of paths) {
    const stems = byFolder.get(dirname(path)) ?? new Set();
    byFolder.set(dirname(path), stems.add(basename(path)));
  }
  const found: string[] = [];
  for (const [folder, stems] of byFolder) {
    const names = await namesIn(folder);
    if (names === null) return null;
    found.push(
      ...names
        .filter((name) => beginnings(name).some((stem) => stems.has(stem)))
        .map((name) => `${folder}/${name}`),
    );
  }
  return found.length > PATHS_MAX ? null : found;
}

/** The part before each dot in a name, except a first one. */
function beginnings(name: string): string[] {
  const parts = name.split('.');
  return parts
    .slice(1)
    .flatMap((_part, at) =>
      at === 0 && parts[0] === '' ? [] : [parts.slice(0, at + 1).join('.')],
    );
}

async function namesIn(folder: string): Promise<string[] | null> {
  try {
    const { entries, cut } = await listFolder(folder, ENTRIES_MAX);
    return cut ? null : entries.map(({ name }) => name);
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return hasErrorCode(error, ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']) ? [] : null;
  }
}
