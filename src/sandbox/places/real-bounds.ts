import { type FollowedPath, followPath } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import type { HiddenFiles } from '../../policy/permissions/hidden-files.ts';
import { isReadable, isWritable } from '../../policy/permissions/is-writable.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { linkedSecrets } from './linked-secrets.ts';

export interface RealBounds {
  /** The bounds with the links in all paths resolved. A path need not exist. */
  bounds: SandboxBounds;
  /** The links that are followed: their targets by their real paths. */
  links: ReadonlyMap<string, string>;
  /** For each path that is left out, the link in it that is not followed. */
  notFollowed: ReadonlyMap<string, string>;
}

/**
 * Resolves the links in the bounds, from the current state of the file system. Does not follow a
 * link inside a writable root if that would widen the bounds: an earlier command may have created
 * it in place of a root that is inside another root, or that did not exist yet. The same holds for
 * a link in one of the `reached` folders, which commands with other bounds could write.
 */
export function realBounds(named: SandboxBounds, reached: readonly string[] = []): RealBounds {
  const readRoots = named.readable === 'everything' ? [] : named.readable.roots;
  const home = realPath(named.home) ?? named.home;
  const { changeable, steadyRoots } = changeableFolders(named.writableRoots, reached);
  const steadyReadRoots = readRoots
    .map(followPath)
    .filter((way) => linkWithin(way, changeable) === null);
  const steady: SandboxBounds = {
    ...named,
    readable: withRoots(named.readable, steadyReadRoots.map(endOf)),
    writableRoots: steadyRoots,
    workspace: [],
    home,
    linkedSecrets: linkedSecrets(home),
    ...(named.hidden && { hidden: named.hidden.map(withRealRoot) }),
  };
  const links = new Map<string, string>();
  const notFollowed = new Map<string, string>();
  const resolve = (
    paths: readonly string[],
    isKnown: (end: string, bounds: SandboxBounds) => boolean,
  ) => {
    const ends = paths.flatMap((path) => {
      const way = followPath(path);
      const link = linkWithin(way, changeable);
      if (link !== null && !isKnown(way.end, steady)) {
        notFollowed.set(path, link);
        return [];
      }
      for (const followed of way.links) links.set(followed.link, followed.target);
      return [way.end];
    });
    return [...new Set(ends)];
  };
  const bounds: SandboxBounds = {
    ...steady,
    readable: withRoots(named.readable, resolve(readRoots, isReadable)),
    workspace: resolve(named.workspace, isReadable),
    writableRoots: resolve(named.writableRoots, isWritable),
  };
  return { bounds, links, notFollowed };
}

/**
 * Returns the folders in which commands can create links, and those of them that no such link can
 * redirect.
 */
function changeableFolders(
  roots: readonly string[],
  reached: readonly string[],
): { changeable: string[]; steadyRoots: string[] } {
  const followed = roots.map(followPath);
  const plain = [...reached, ...followed.filter(({ links }) => links.length === 0).map(endOf)];
  const outside = followed.filter((way) => linkWithin(way, plain) === null);
  const changeable = [...reached, ...outside.map(endOf)];
  return {
    changeable,
    steadyRoots: outside.filter((way) => linkWithin(way, changeable) === null).map(endOf),
  };
}

/** Returns the first link of a followed path that is in one of the folders, or null. */
function linkWithin({ links }: FollowedPath, folders: readonly string[]): string | null {
  return links.find(({ link }) => folders.some((folder) => isWithin(link, folder)))?.link ?? null;
}

/** A link is followed, whoever made it: that hides more. */
function withRealRoot(files: HiddenFiles): HiddenFiles {
  return { ...files, root: followPath(files.root).end };
}

function endOf({ end }: FollowedPath): string {
  return end;
}

function withRoots(
  readable: SandboxBounds['readable'],
  roots: readonly string[],
): SandboxBounds['readable'] {
  return readable === 'everything' ? readable : { ...readable, roots };
}
