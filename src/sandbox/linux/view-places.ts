import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { followPath } from '../../base/follow-path.ts';
import { realPath } from '../../base/real-path.ts';
import { statOf } from '../../base/stat-of.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { type MountKind, nearestKind } from './bubblewrap-mounts.ts';
import type { GuardedPlaces } from './guarded-places.ts';

const FROZEN_ENTRIES_MAX = 500;

/** The places of a view while it is made, and the guards that were taken for it. Paths given are real, but where said. */
export class ViewPlaces {
  readonly kinds = new Map<string, MountKind>();
  /** Symbolic links to be made: their targets by their paths. */
  readonly links = new Map<string, string>();
  readonly guards: string[] = [];
  /** Shown as writable by their own names. */
  readonly #named = new Set<string>();
  readonly #guardedPlaces: GuardedPlaces;

  constructor(guardedPlaces: GuardedPlaces) {
    this.#guardedPlaces = guardedPlaces;
  }

  /** Shows what is there, as a root of the bounds. What can be read and written is not made less by what can be read. */
  show(path: string, kind: 'read' | 'write'): void {
    if (kind === 'write') this.#named.add(path);
    if (this.kinds.get(path) !== 'write') this.set(path, kind);
  }

  set(path: string, kind: MountKind): void {
    this.kinds.set(path, kind);
  }

  /** What a path is inside. Undefined where no place says. */
  kindOf(path: string): MountKind | undefined {
    return nearestKind(path, this.kinds);
  }

  /**
   * Makes what is at a path, links on the way included, not to be changed, replaced or made: where nothing is there yet, nothing
   * can come to be there. What was shown as writable by its own name stays so. The last part of the path may be a link.
   */
  protect(path: string): void {
    if (this.#named.has(path) || this.kindOf(path) !== 'write') return;
    const stat = statOf(path);
    if (stat === null || (stat.isDirectory() && this.#guardedPlaces.isGuard(path))) this.#guard(path);
    else if (stat.isSymbolicLink()) this.#protectLinked(path);
    else this.set(path, 'read');
  }

  /** As `protect`, and what is there is not seen either. */
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

  /** Nothing can be mounted on a link itself: the folder that it is in is kept as it is. */
  #protectLinked(path: string): void {
    const { links, end } = followPath(path);
    for (const { link } of links) if (this.kindOf(dirname(link)) === 'write') this.#freeze(dirname(link));
    this.protect(firstMissing(end));
  }

  /** No entry of the folder can be made, removed or renamed; what is in the entries can be changed as before. */
  #freeze(folder: string): void {
    const entries = readdirSync(folder, { withFileTypes: true });
    if (entries.length > FROZEN_ENTRIES_MAX) {
      throw new ProcessStartError(`${folder} holds a protected symbolic link, and too many other entries to keep it as it is.`);
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
