import { dirname, join } from 'node:path';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { followPath } from '../../base/paths/follow-path.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { type MountKind, nearestKind } from '../linux/bubblewrap-mounts.ts';
import { ProcessStartError } from '../processes/processes.ts';
import type { GuardedPlaces } from './guarded-places.ts';

const FROZEN_ENTRIES_MAX = 500;

/** The places of a view while it is built, and the guards that it uses. Paths are real, unless a method says otherwise. */
export class ViewPlaces {
  readonly kinds = new Map<string, MountKind>();
  /** Symbolic links to create: their targets by path. */
  readonly links = new Map<string, string>();
  readonly guards: string[] = [];
  /** Paths that are writable roots themselves. */
  readonly #named = new Set<string>();
  readonly #guardedPlaces: GuardedPlaces;

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
   * Protects a path: it cannot be changed, replaced or created, and the links in it cannot be either. A path that is a writable
   * root itself stays writable. The last part of the path may be a link.
   */
  protect(path: string): void {
    if (this.#named.has(path) || this.kindOf(path) !== 'write') return;
    const stat = statOf(path);
    if (stat === null || (stat.isDirectory() && this.#guardedPlaces.isGuard(path))) this.#guard(path);
    else if (stat.isSymbolicLink()) this.#protectLinked(path);
    else this.set(path, 'read');
  }

  /** Like `protect`, and also hides the content. */
  hide(path: string): void {
    const stat = statOf(path);
    if (stat === null || stat.isSymbolicLink()) this.protect(path);
    const real = realPath(path);
    if (real !== null && this.kinds.get(real) !== 'empty') this.set(real, statOf(real)?.isDirectory() === true ? 'empty' : 'nothing');
  }

  releaseGuards(): void {
    for (const guard of this.guards.splice(0)) this.#guardedPlaces.release(guard);
  }

  #guard(path: string): void {
    if (!this.#guardedPlaces.take(path)) return;
    this.guards.push(path);
    this.set(path, 'empty');
  }

  /** Nothing can be mounted on a link, so the folder of the link is frozen. */
  #protectLinked(path: string): void {
    const { links, end } = followPath(path);
    for (const { link } of links) if (this.kindOf(dirname(link)) === 'write') this.#freeze(dirname(link));
    this.protect(firstMissing(end));
  }

  /** Makes a folder read-only but its entries writable: no entry can be created, removed or renamed. */
  #freeze(folder: string): void {
    const { entries, cut } = listFolderSync(folder, FROZEN_ENTRIES_MAX);
    if (cut) {
      throw new ProcessStartError(
        `${folder} contains a protected symbolic link and more than ${FROZEN_ENTRIES_MAX} entries, so the link cannot be protected`,
      );
    }
    this.set(folder, 'read');
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (!entry.isSymbolicLink() && !isProtectedName(entry.name) && !this.kinds.has(path)) this.set(path, 'write');
    }
  }
}

/** The path itself if something is there, else the first part of it that is missing. */
function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || statOf(path) !== null || statOf(parent) !== null ? path : firstMissing(parent);
}
