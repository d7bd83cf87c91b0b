import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from '../base/system-error.ts';

// Looked up at once, not through promises: each takes a few microseconds, and a command's start needs dozens.

const NOT_TO_BE_SEEN = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'];

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

/** The symbolic links on the way to a path, each by its own real place, with their targets. Also of a path that leads nowhere. */
export function linksOn(path: string): { link: string; target: string }[] {
  const found: { link: string; target: string }[] = [];
  const seen = new Set<string>();
  let rest = path.split('/').filter((part) => part !== '' && part !== '.');
  let at = '/';
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = part === '..' ? dirname(at) : join(at, part);
    const target = seen.has(next) ? null : linkTarget(next);
    if (target === null) {
      at = next;
      continue;
    }
    seen.add(next);
    found.push({ link: next, target });
    rest = [...target.split('/').filter((step) => step !== '' && step !== '.'), ...rest];
    if (target.startsWith('/')) at = '/';
  }
  return found;
}

/** The first part of a path that is missing, by its real place; null where nothing is. */
export function firstMissing(path: string): string | null {
  if (realPath(path) !== null) return null;
  const parent = realPath(dirname(path));
  return parent === null ? firstMissing(dirname(path)) : join(parent, basename(path));
}

/** Whether a path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
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
