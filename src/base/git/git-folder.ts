import { join, resolve } from 'node:path';
import { readRegularFile } from '../files/read-regular-file.ts';
import { isFolder } from '../paths/is-folder.ts';
import { isBelow } from '../paths/is-within.ts';
import { realPathOrSame } from '../paths/real-path.ts';
import { gitConfigValue } from './git-config-value.ts';

const SMALL_BYTES_MAX = 64 * 1024;
const CONFIG_BYTES_MAX = 256 * 1024;

/** The folders of a repository's data: absolute, without links. */
export interface GitFolder {
  /** The folder of this working tree only, with HEAD. */
  own: string;
  /** The folder that all working trees of the repository share, with refs and config. */
  shared: string;
}

/**
 * Finds the repository of a working tree by its `.git`. Returns null if there is none that belongs
 * to it. A `.git` file names another folder, which counts only if it names the working tree in
 * turn, as those of worktrees and submodules do. Otherwise anyone could write a file that leads to
 * another user's repository.
 */
export async function gitFolder(root: string): Promise<GitFolder | null> {
  const path = join(root, '.git');
  const real = realPathOrSame(path);
  if (isFolder(path))
    return real === join(realPathOrSame(root), '.git') ? { own: real, shared: real } : null;
  const named = (await firstLine(path, [root]))?.match(/^gitdir: (.+)$/)?.[1];
  if (named === undefined) return null;
  const own = realPathOrSame(resolve(root, named));
  return (await worktree(own, path)) ?? submodule(own, root);
}

/**
 * Reads a file of a repository, but not through a link that leads out of it. Returns null if there
 * is none to read.
 */
export function readGitFile(
  folder: string,
  name: string,
  bytesMax = SMALL_BYTES_MAX,
): Promise<string | null> {
  return readText(join(folder, name), { bytesMax, within: [folder] });
}

/** The bytes of a file that may be large: their text would take milliseconds. */
export function readGitBytes(
  folder: string,
  name: string,
  bytesMax: number,
): Promise<Buffer | null> {
  return readBytes(join(folder, name), { bytesMax, within: [folder] });
}

/** The text of the repository's config file; empty if there is none. */
export async function readGitConfig({ shared }: GitFolder): Promise<string> {
  return (await readGitFile(shared, 'config', CONFIG_BYTES_MAX)) ?? '';
}

async function worktree(own: string, dotGit: string): Promise<GitFolder | null> {
  const back = await firstLine(join(own, 'gitdir'), [own]);
  if (back === null || realPathOrSame(resolve(own, back)) !== realPathOrSame(dotGit)) return null;
  const common = await firstLine(join(own, 'commondir'), [own]);
  const shared = realPathOrSame(resolve(own, common ?? '.'));
  return isBelow(own, join(shared, 'worktrees')) ? { own, shared } : null;
}

async function submodule(own: string, root: string): Promise<GitFolder | null> {
  const tree = gitConfigValue((await readGitFile(own, 'config', CONFIG_BYTES_MAX)) ?? '', [
    'core',
    null,
    'worktree',
  ]);
  if (tree === null || realPathOrSame(resolve(own, tree)) !== realPathOrSame(root)) return null;
  return { own, shared: own };
}

async function firstLine(path: string, within: readonly string[]): Promise<string | null> {
  return (
    (await readText(path, { bytesMax: SMALL_BYTES_MAX, within }))?.split('\n')[0]?.trimEnd() ?? null
  );
}

interface ReadLimits {
  bytesMax: number;
  /** The folders in which the file may lie. */
  within: readonly string[];
}

async function readText(path: string, limits: ReadLimits): Promise<string | null> {
  return (await readBytes(path, limits))?.toString('utf8') ?? null;
}

async function readBytes(path: string, { bytesMax, within }: ReadLimits): Promise<Buffer | null> {
  try {
    const mayLieAt = (real: string) =>
      within.some((folder) => isBelow(real, realPathOrSame(folder)));
    return (await readRegularFile(path, { bytesMax, mayLieAt }))?.bytes ?? null;
  } catch {
    // A folder, a pipe, a file that is too large, a link that leads out, or no permission: git
    // would not read it either, or should not.
    return null;
  }
}
