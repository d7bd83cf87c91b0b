import { sep } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isWithin } from '../../base/paths/is-within.ts';

/**
 * A path to protect, and the file or folder that was found and is the reason. Either may contain
 * links.
 */
export interface NestedPlace {
  path: string;
  reason: string;
}

/** The deepest place that gets a mount of its own. */
const MOUNT_DEPTH_MAX = 32;
/** The most mounts for the places below one root. Each costs a command up to a millisecond. */
const MOUNTS_MAX = 500;
/** The work for a short path, in the units of `EventLoopYield`. */
const WORK = 20;
/** A folder with more folders that contain places is joined first. */
const WIDTH_MAX = 50;

/**
 * Reduces the mounts that protect places below a root: a place needs a mount of its own, and one
 * for each folder between it and the root. Places are joined by protecting a folder above them as a
 * whole: first in very wide folders, then in deep ones. Places outside the root stay as they are.
 * Returns the places, shallow ones first. Returns null if there are too many even at depth 1.
 */
export async function joinPlaces(
  root: string,
  places: readonly NestedPlace[],
): Promise<NestedPlace[] | null> {
  const breaks = new EventLoopYield();
  let joined = await atDepth(places, { root, depthMax: MOUNT_DEPTH_MAX, breaks });
  let mounts = await mountsOf(root, joined, breaks);
  while (mounts.size > MOUNTS_MAX) {
    const folder = await widest(root, mounts, breaks);
    if (folder === null) break;
    joined = [
      ...joined.filter(({ path }) => !isWithin(path, folder)),
      { path: folder, reason: folder },
    ];
    mounts = await mountsOf(root, joined, breaks);
  }
  for (
    let depthMax = MOUNT_DEPTH_MAX - 1;
    depthMax > 0 && mounts.size > MOUNTS_MAX;
    depthMax -= 1
  ) {
    joined = await atDepth(joined, { root, depthMax, breaks });
    mounts = await mountsOf(root, joined, breaks);
  }
  return mounts.size > MOUNTS_MAX ? null : joined.sort((a, b) => a.path.length - b.path.length);
}

interface DepthOptions {
  root: string;
  depthMax: number;
  breaks: EventLoopYield;
}

/** Replaces deeper places by their folder at that depth. */
async function atDepth(
  places: readonly NestedPlace[],
  { root, depthMax, breaks }: DepthOptions,
): Promise<NestedPlace[]> {
  const joined = new Map<string, NestedPlace>();
  for await (const { path, reason } of inSlices(places, ({ path }) => WORK + path.length, breaks)) {
    const place = { path: cut(root, path, depthMax), reason: cut(root, reason, depthMax) };
    joined.set(`${place.path}\0${place.reason}`, place);
  }
  return [...joined.values()];
}

/** Returns the path, or the folder above it that is at most so deep below the root. */
function cut(root: string, path: string, depthMax: number): string {
  if (!isWithin(path, root)) return path;
  let end = root === sep ? 0 : root.length;
  for (let depth = 0; depth < depthMax; depth += 1) {
    end = path.indexOf(sep, end + 1);
    if (end === -1) return path;
  }
  return path.slice(0, end);
}

/**
 * Returns the folder below the root in which most folders contain places, or null if none is very
 * wide.
 */
async function widest(
  root: string,
  mounts: ReadonlySet<string>,
  breaks: EventLoopYield,
): Promise<string | null> {
  const widths = new Map<string, number>();
  for await (const path of inSlices(mounts, WORK, breaks)) {
    const folder = path.slice(0, path.lastIndexOf(sep));
    widths.set(folder, (widths.get(folder) ?? 0) + 1);
  }
  widths.delete(root);
  const [folder, width] = [...widths].reduce(
    (best, one) => (one[1] > best[1] ? one : best),
    ['', 0],
  );
  return width > WIDTH_MAX && isWithin(folder, root) ? folder : null;
}

/** Returns the places, and the folders between them and the root. */
async function mountsOf(
  root: string,
  places: readonly NestedPlace[],
  breaks: EventLoopYield,
): Promise<Set<string>> {
  const mounts = new Set<string>();
  for await (const { path } of inSlices(places, ({ path }) => WORK + path.length, breaks)) {
    mounts.add(path);
    if (!isWithin(path, root)) continue;
    for (let end = path.lastIndexOf(sep); end > root.length; end = path.lastIndexOf(sep, end - 1))
      mounts.add(path.slice(0, end));
  }
  return mounts;
}
