import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../../base/system-error-code.ts';

// Looked up at once, not through promises: each takes a few microseconds, and a command's start needs dozens.

const NOT_TO_BE_SEEN = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];
/** As many links as the system follows: behind more there is nothing. */
const LINKS_MAX = 40;

/** What the kernel shows as folders and files. A sandbox has its own. */
export const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];

/** Of the file itself, were it a symbolic link. Null where there is none, or none that this user can see. */
export function statOf(path: string): Stats | null {
  return unlessUnseen(() => lstatSync(path));
}

/** Without a symbolic link on its way. Null where it leads nowhere. */
export function realPath(path: string): string | null {
  return unlessUnseen(() => realpathSync.native(path));
}

/** Null where there is no such file. */
export function textOf(path: string): string | null {
  return unlessUnseen(() => readFileSync(path, 'utf8'));
}

export interface FollowedPath {
  /** Where a path leads, whether there is anything or not. */
  end: string;
  /** The symbolic links that are followed, each by its own real place, with its target. */
  links: { link: string; target: string }[];
}

/** Follows a path and the symbolic links on it, the last part as well. */
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

/** The path itself where there is something, else the first part of it that is missing. */
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
