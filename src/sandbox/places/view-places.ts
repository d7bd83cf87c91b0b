import type { Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { inSlices } from '../../base/in-slices.ts';
import { followPath } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { type MountKind, nearestKind } from '../linux/bubblewrap-mounts.ts';
import { ProcessStartError } from '../processes/processes.ts';
import type { GuardedPlaces } from './guarded-places.ts';
import { KERNEL_FOLDERS } from './kernel-folders.ts';

/** The kernel's limit is 4,095, including a prefix by bubblewrap. */
export const PATH_BYTES_MAX = 4000;
/** The work of making or releasing a guard, in the units of `EventLoopYield`. */
export const GUARD_WORK = 250;
const NAME_BYTES_MAX = 255;
/**
 * Each entry of a frozen folder is a mount. bubblewrap takes time for each, and reads its list of
 * mounts again, so the time is quadratic.
 */
const FROZEN_ENTRIES_MAX = 500;
/** The same for all folders below roots together: half a second. */
const FROZEN_ENTRIES_ALL = 1000;

/** A file or folder that is hidden now. */
export interface HiddenPlace {
  /** Its real path. For a link that matches, the real path of its target. */
  path: string;
  isFolder: boolean;
  /** The pattern that matches. */
  text: string;
  /**
   * The real paths of the links through which alone it matches: those on the way too. None if its
   * own path matches.
   */
  links: readonly string[];
}

/**
 * The places of a view while it is built, and the guards that it uses. Paths are real, unless a
 * method says otherwise.
 */
export class ViewPlaces {
  readonly kinds = new Map<string, MountKind>();
  /** Symbolic links to create: their targets by path. */
  readonly links = new Map<string, string>();
  readonly guards: string[] = [];
  /**
   * The folders below roots that are read-only as a whole, because they have a protected link and
   * too many entries.
   */
  readonly closed: string[] = [];
  /** What is hidden because of a pattern. */
  readonly concealed: HiddenPlace[] = [];
  /**
   * Links in writable folders that cannot be replaced, because only they lead to what is hidden.
   */
  readonly heldLinks: string[] = [];
  /** Paths that are writable roots themselves. */
  readonly #named = new Set<string>();
  readonly #guardedPlaces: GuardedPlaces;
  #entriesLeft = FROZEN_ENTRIES_ALL;

  constructor(guardedPlaces: GuardedPlaces) {
    this.#guardedPlaces = guardedPlaces;
  }

  /** Shows a root of the bounds. A writable root stays writable if it is also a readable root. */
  show(path: string, kind: 'read' | 'write'): void {
    if (kind === 'write') this.#named.add(path);
    if (this.kinds.get(path) !== 'write') this.set(path, kind);
  }

  set(path: string, kind: MountKind): void {
    this.kinds.set(path, kind);
  }

  /** Returns the kind of a path. Returns undefined if no place covers it. */
  kindOf(path: string): MountKind | undefined {
    return nearestKind(path, this.kinds);
  }

  /**
   * Protects a path, which may contain links and need not exist: it cannot be changed, replaced or
   * created, and neither can the links on the way to it. A path that is a writable root itself
   * stays writable. Throws a `ProcessStartError` if that is impossible.
   */
  protect(path: string): void {
    const folder = dirname(path);
    // Most paths have no link, and the system detects that much faster.
    if (realPath(folder) === folder) this.protectEntry(folder, basename(path));
    else this.#protectLinked(path);
  }

  #protectLinked(path: string): void {
    const end = this.protectLinks(path);
    if (this.#named.has(end) || this.kindOf(end) !== 'write') return;
    const place = firstMissing(end);
    this.#protectPlace(place, statOf(place));
  }

  /** Whether a path is a writable root itself. */
  isRoot(path: string): boolean {
    return this.#named.has(path);
  }

  /** Like `protect`, for an entry of a folder whose path is real. */
  protectEntry(folder: string, name: string): void {
    const path = join(folder, name);
    const stat = statOf(path);
    if (stat?.isSymbolicLink() === true) this.#protectLinked(path);
    else if (!this.#named.has(path) && this.kindOf(path) === 'write')
      this.#protectPlace(path, stat);
  }

  /** Prevents the links in a path from being replaced. Returns the path with its links resolved. */
  protectLinks(path: string): string {
    const { links, end, isComplete } = followPath(path);
    if (!isComplete)
      throw new ProcessStartError(`${path} could not be protected: the path is too long`);
    // Nothing can be mounted on a link, so the folder of the link is frozen.
    for (const { link } of links) {
      if ([...this.#named].some((root) => isWithin(root, link)))
        throw new ProcessStartError(
          `${link} was replaced while the command started, so it was not run.`,
        );
      if (this.kindOf(dirname(link)) === 'write' && !isOfKernel(link)) this.freeze(dirname(link));
    }
    return end;
  }

  /** Like `protectLinks`, for a link that leads to what is hidden. Its path is real. */
  holdLink(link: string): void {
    if (this.kindOf(dirname(link)) !== 'write') return;
    const closed = this.closed.length;
    this.protectLinks(link);
    this.closed.length = closed;
    this.heldLinks.push(link);
  }

  /** Like `protect`, and also hides the content. */
  hide(path: string): void {
    const stat = statOf(path);
    if (stat === null || stat.isSymbolicLink()) this.protect(path);
    const real = realPath(path);
    if (real !== null && this.kinds.get(real) !== 'empty')
      this.set(real, statOf(real)?.isDirectory() === true ? 'empty' : 'nothing');
  }

  /**
   * Hides these places, and all places in them. Without the links through which they match, the
   * next command would see them, so these stay. `everything`: whether what no place covers is
   * visible. Call it when all other places are known.
   */
  async conceal(hidden: readonly HiddenPlace[], everything: boolean): Promise<void> {
    const loop = new EventLoopYield();
    const isVisible = ({ path }: HiddenPlace) => isShown(this.kindOf(path), everything);
    for await (const link of inSlices(
      hidden.filter(isVisible).flatMap(({ links }) => links),
      GUARD_WORK,
      loop,
    ))
      this.holdLink(link);
    this.concealed.push(...hidden);
    const visible = hidden.filter(isVisible);
    const folders = new Set(hidden.flatMap(({ path, isFolder }) => (isFolder ? [path] : [])));
    for await (const place of inSlices(this.kinds.keys(), 1, loop))
      if (folders.size > 0 && isBelowOne(place, folders)) this.kinds.delete(place);
    for (const { path, isFolder } of visible) this.set(path, isFolder ? 'empty' : 'nothing');
  }

  /** Whether the folder at the path is a guard. */
  isGuard(path: string): boolean {
    return this.#guardedPlaces.isGuard(path);
  }

  /** `moreFollow`: further commands may need the guards soon. */
  async releaseGuards(moreFollow = false): Promise<void> {
    for await (const guard of inSlices(this.guards.splice(0), GUARD_WORK))
      this.#guardedPlaces.release(guard, moreFollow);
  }

  #protectPlace(path: string, stat: Stats | null): void {
    if (isOfKernel(path)) return;
    // Nothing can be created with a name that is too long.
    if (Buffer.byteLength(basename(path)) > NAME_BYTES_MAX) return;
    const guarded = this.#guardedPlaces;
    if (
      stat === null ||
      (stat.isDirectory() && (guarded.holds(path, stat) || guarded.isGuard(path)))
    )
      this.#guard(path);
    else this.set(path, 'read');
  }

  #guard(path: string): void {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX)
      throw new ProcessStartError(`${path} could not be protected: the path is too long`);
    if (!this.#guardedPlaces.take(path)) return;
    this.guards.push(path);
    this.set(path, 'read');
  }

  /**
   * Makes a folder read-only but its entries writable: no entry can be created, removed or renamed.
   * A folder with too many entries becomes read-only as a whole. Throws a `ProcessStartError` if
   * that is a root.
   */
  freeze(folder: string): void {
    const { entries, cut } = listFolderSync(folder, FROZEN_ENTRIES_MAX);
    const isRoot = this.#named.has(folder);
    if (!isRoot && (cut || entries.length > this.#entriesLeft)) {
      this.closed.push(folder);
      this.set(folder, 'read');
      return;
    }
    if (!isRoot) this.#entriesLeft -= entries.length;
    if (cut) {
      throw new ProcessStartError(
        `${folder} contains a protected symbolic link and more than ${FROZEN_ENTRIES_MAX} entries, so the link cannot be protected`,
      );
    }
    this.set(folder, 'read');
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (
        (entry.isFile() || entry.isDirectory()) &&
        !isProtectedName(entry.name) &&
        !this.kinds.has(path)
      )
        this.set(path, 'write');
    }
  }
}

function isShown(kind: MountKind | undefined, everything: boolean): boolean {
  return kind === undefined ? everything : kind === 'read' || kind === 'write';
}

/** Whether a path lies in one of the folders. */
function isBelowOne(path: string, folders: ReadonlySet<string>): boolean {
  for (
    let above = dirname(path), place = path;
    above !== place;
    place = above, above = dirname(above)
  )
    if (folders.has(above)) return true;
  return false;
}

/**
 * Returns the path itself if it exists, else its first missing part, or the file that is in its
 * way.
 */
function firstMissing(path: string): string {
  const parent = dirname(path);
  if (parent === path || statOf(path) !== null) return path;
  const above = statOf(parent);
  if (above === null) return firstMissing(parent);
  return above.isDirectory() ? path : parent;
}

/**
 * Whether the path is in a folder of the kernel, which the sandbox replaces by its own, and in
 * which nobody can put links.
 */
function isOfKernel(path: string): boolean {
  return KERNEL_FOLDERS.some((folder) => isWithin(path, folder));
}
