import { dirname, join } from 'node:path';
import { isLink } from './is-link.ts';
import { linkTarget } from './link-target.ts';
import { realPath } from './real-path.ts';

/** The maximum number of links that the system follows on one path. */
export const LINKS_MAX = 40;

export interface FollowedPath {
  /** The place that the path leads to, whether anything is there or not. */
  end: string;
  /** The links that were followed, each by its own real path, with its target. */
  links: { link: string; target: string }[];
  /** False if the path has too many parts. Then the links in its last parts are not followed. */
  isComplete: boolean;
}

/** The most parts that are followed, those of the links' targets included. */
const PARTS_MAX = 1000;

/** Follows an absolute path and the links on it, the last part as well. */
export function followPath(path: string): FollowedPath {
  const links: FollowedPath['links'] = [];
  let rest = partsOf(path);
  let end = '/';
  let parts = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = part === '..' ? dirname(end) : join(end, part);
    const target = links.length < LINKS_MAX ? targetOf(next) : null;
    parts += 1;
    if (parts > PARTS_MAX) return { end: join(next, ...rest), links, isComplete: false };
    if (target === null) {
      end = next;
      continue;
    }
    links.push({ link: next, target });
    rest = [...partsOf(target), ...rest];
    if (target.startsWith('/')) end = '/';
  }
  return { end, links, isComplete: true };
}

/**
 * Returns the place that an absolute path leads to. A part that does not exist or cannot be seen
 * stays as it is named.
 */
export function resolveLinks(path: string): string {
  // For a path that exists, the system does it much faster.
  return realPath(path) ?? followPath(path).end;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function targetOf(path: string): string | null {
  return isLink(path) ? linkTarget(path) : null;
}
