import { dirname, relative, sep } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';

/** A path to protect, and the file or folder that was found and is the reason. Either may contain links. */
export interface NestedPlace {
  path: string;
  reason: string;
}

/** The deepest place that gets a mount of its own. */
const DEPTH_MAX = 32;
/** The most mounts for the places below one root. Each costs a command up to a millisecond. */
const MOUNTS_MAX = 500;
/** A folder with more folders that contain places is joined first. */
const WIDTH_MAX = 50;

/**
 * Reduces the mounts that protect places below a root: a place needs a mount of its own, and one for each folder between it and the
 * root. Places are joined by protecting a folder above them as a whole: first in very wide folders, then in deep ones. Places outside
 * the root stay as they are. Returns the places, shallow ones first. Returns null if there are too many even at depth 1.
 */
export function joinPlaces(root: string, places: readonly NestedPlace[]): NestedPlace[] | null {
  let joined = atDepth(root, places, DEPTH_MAX);
  for (let wide = widest(root, joined); wide !== null && mountsOf(root, joined).size > MOUNTS_MAX; wide = widest(root, joined)) {
    const folder = wide;
    const isIn = (path: string) => isWithin(path, folder);
    joined = [...joined.filter(({ path }) => !isIn(path)), { path: folder, reason: folder }];
  }
  for (let depth = DEPTH_MAX - 1; depth > 0 && mountsOf(root, joined).size > MOUNTS_MAX; depth -= 1) joined = atDepth(root, joined, depth);
  return mountsOf(root, joined).size > MOUNTS_MAX ? null : joined.sort((a, b) => depthOf(a.path) - depthOf(b.path));
}

/** Replaces deeper places by their folder at that depth. */
function atDepth(root: string, places: readonly NestedPlace[], depthMax: number): NestedPlace[] {
  const joined = new Map<string, NestedPlace>();
  for (const { path, reason } of places) {
    const place = { path: cut(root, path, depthMax), reason: cut(root, reason, depthMax) };
    joined.set(`${place.path}\0${place.reason}`, place);
  }
  return [...joined.values()];
}

/** Returns the path, or the folder above it that is at most so deep below the root. */
function cut(root: string, path: string, depthMax: number): string {
  if (!isWithin(path, root)) return path;
  const names = relative(root, path).split(sep);
  return names.length <= depthMax ? path : [root === sep ? '' : root, ...names.slice(0, depthMax)].join(sep);
}

/** Returns the folder below the root in which most folders contain places, or null if none is very wide. */
function widest(root: string, places: readonly NestedPlace[]): string | null {
  const widths = new Map<string, number>();
  for (const path of mountsOf(root, places)) widths.set(dirname(path), (widths.get(dirname(path)) ?? 0) + 1);
  widths.delete(root);
  const [folder, width] = [...widths].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0]);
  return width > WIDTH_MAX && isWithin(folder, root) ? folder : null;
}

/** Returns the places, and the folders between them and the root. */
function mountsOf(root: string, places: readonly NestedPlace[]): Set<string> {
  const mounts = new Set<string>();
  for (const { path } of places) {
    mounts.add(path);
    if (!isWithin(path, root)) continue;
    for (let end = path.lastIndexOf(sep); end > root.length; end = path.lastIndexOf(sep, end - 1)) mounts.add(path.slice(0, end));
  }
  return mounts;
}

function depthOf(path: string): number {
  return path.split(sep).length;
}
