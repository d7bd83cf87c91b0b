import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../../base/system-error-code.ts';

// Synchronous: each call takes a few microseconds, and starting a command needs dozens.

const NOT_TO_BE_SEEN = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];
/** The most links that the system follows in one path. */
const LINKS_MAX = 40;

/** Folders that the kernel provides. A sandbox has its own. */
export const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];

/** Like lstat. Returns null if the file does not exist, or this user cannot see it. */
export function statOf(path: string): Stats | null {
  return unlessUnseen(() => lstatSync(path));
}

/** Returns the path with all symbolic links resolved. Returns null if it does not exist. */
export function realPath(path: string): string | null {
  return unlessUnseen(() => realpathSync.native(path));
}

/** Returns the text of a file, or null if there is no such file. */
export function textOf(path: string): string | null {
  return unlessUnseen(() => readFileSync(path, 'utf8'));
}

export interface FollowedPath {
  /** The path without links, whether it exists or not. */
  end: string;
  /** The symbolic links that were followed: the real path of each, and its target. */
  links: { link: string; target: string }[];
}

/** Follows the symbolic links in a path, including its last part. */
export function followPath(path: string): FollowedPath {
  const links: FollowedPath['links'] = [];
  let rest = partsOf(path);
  let end = '/';
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = part === '..' ? dirname(end) : join(end, part);
    const target = links.length < LINKS_MAX ? linkTarget(next) : null;
    if (target === null) {
      end = next;
      continue;
    }
    links.push({ link: next, target });
    rest = [...partsOf(target), ...rest];
    if (target.startsWith('/')) end = '/';
  }
  return { end, links };
}

/** Returns the path itself if it exists, else the first part of it that is missing. */
export function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || statOf(path) !== null || statOf(parent) !== null ? path : firstMissing(parent);
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function linkTarget(path: string): string | null {
  return statOf(path)?.isSymbolicLink() === true ? unlessUnseen(() => readlinkSync(path)) : null;
}

function unlessUnseen<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (hasErrorCode(error, NOT_TO_BE_SEEN)) return null;
    throw error;
  }
}
