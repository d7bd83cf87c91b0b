import { dirname, join } from 'node:path';
import { linkTarget } from './link-target.ts';
import { statOf } from './stat-of.ts';

/** The maximum number of links that the system follows on one path. */
export const LINKS_MAX = 40;

export interface FollowedPath {
  /** Where the path leads, whether anything is there or not. */
  end: string;
  /** The links that were followed, each by its own real path, with its target. */
  links: { link: string; target: string }[];
}

/** Follows an absolute path and the links on it, the last part as well. */
export function followPath(path: string): FollowedPath {
  const links: FollowedPath['links'] = [];
  let rest = partsOf(path);
  let end = '/';
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = part === '..' ? dirname(end) : join(end, part);
    const target = links.length < LINKS_MAX ? targetOf(next) : null;
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

/** Where an absolute path leads. A part that does not exist or cannot be seen stays as it is named. */
export function resolveLinks(path: string): string {
  return followPath(path).end;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function targetOf(path: string): string | null {
  return statOf(path)?.isSymbolicLink() === true ? linkTarget(path) : null;
}
