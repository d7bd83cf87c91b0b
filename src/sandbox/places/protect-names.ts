import { dirname, join, resolve } from 'node:path';
import { textOf } from '../../base/files/text-of.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { PROTECTED_NAMES } from '../../policy/permissions/sandbox-bounds.ts';
import type { ViewPlaces } from './view-places.ts';

/** Files in git's folder that can make git run programs, and may be links to files elsewhere. */
const GIT_LINKABLE = ['hooks', 'config', 'config.worktree', 'commondir'];
/** Git ignores a `.git` file that is larger. A larger `commondir` counts as none: who could write it could write `config` too. */
const POINTER_BYTES_MAX = 1024 * 1024;

/** Protects the names in a writable root, including those that do not exist yet. */
export function protectNames(root: string, places: ViewPlaces): void {
  if (statOf(root)?.isDirectory() !== true) return;
  const paths = PROTECTED_NAMES.map((name) => join(root, name));
  // Links first: protecting a link makes its folder read-only, so the other names need no guards.
  for (const path of paths.toSorted((a, b) => Number(isLink(b)) - Number(isLink(a)))) protectNamed(path, places);
}

/** Protects a path with a protected name. For `.git`, also protects the folders that it refers to. */
export function protectNamed(path: string, places: ViewPlaces): void {
  places.protect(path);
  if (!path.endsWith('/.git')) return;
  const real = realPath(path);
  if (real !== null) protectGit(real, places);
}

function protectGit(git: string, places: ViewPlaces): void {
  const folder = gitFolder(git);
  if (folder === null) return;
  places.protect(folder);
  for (const name of GIT_LINKABLE) if (isLink(join(folder, name))) protectTarget(join(folder, name), places);
  const common = textOf(join(folder, 'commondir'), POINTER_BYTES_MAX);
  const shared = common === null ? null : realPath(resolve(folder, common.trim()));
  if (shared !== null) places.protect(shared);
}

/** Returns git's folder. In a worktree or submodule, `.git` is a file that names the folder. */
function gitFolder(git: string): string | null {
  if (statOf(git)?.isFile() !== true) return git;
  const [, named] = /^gitdir: (.*)$/m.exec(textOf(git, POINTER_BYTES_MAX) ?? '') ?? [];
  return named === undefined ? null : realPath(resolve(dirname(git), named));
}

function protectTarget(link: string, places: ViewPlaces): void {
  const target = realPath(link);
  if (target !== null) places.protect(target);
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}
