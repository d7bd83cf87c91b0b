import { dirname } from 'node:path';
import { type MountKind, nearestKind } from './bubblewrap-mounts.ts';

/** More folders are not remembered. */
const REACHED_MAX = 10_000;

/** The places that a running command can write. It cannot move or replace its mount points. */
export interface RunningView {
  /** The writable roots. Real paths. */
  roots: readonly string[];
  mounted: ReadonlyMap<string, MountKind>;
}

/**
 * The writable places of a view that a running command could replace by a link while bubblewrap
 * mounts them by their paths.
 */
export interface Risks {
  /**
   * They are not mounted: they lie in another writable place, or the command can do without writing
   * there.
   */
  needless: ReadonlySet<string>;
  /** Writable roots. They must be compared with handles after they are mounted. */
  needed: readonly string[];
}

/**
 * The views of the commands that run now. If a running command replaced a writable place by a link,
 * a new mount would make the wrong folder writable. So a place is mounted without a check only if
 * it is a mount point of each running command that can write above it.
 */
export class RunningViews {
  readonly #views = new Set<RunningView>();
  readonly #reached = new Set<string>();

  /**
   * The roots of all commands so far, including those that have ended: a command may have created a
   * link in them.
   */
  get reached(): string[] {
    return [...this.#reached];
  }

  /** Call the returned function when the command has ended. */
  add(view: RunningView): () => void {
    this.#views.add(view);
    for (const root of view.roots) if (this.#reached.size < REACHED_MAX) this.#reached.add(root);
    return () => void this.#views.delete(view);
  }

  /**
   * Adds the writable places of running commands to a new view, so that the new command cannot
   * replace them either.
   */
  share(places: Map<string, MountKind>): void {
    for (const { mounted } of this.#views) {
      for (const [path, kind] of mounted) {
        if (kind === 'write' && !places.has(path) && nearestKind(path, places) === 'write')
          places.set(path, 'write');
      }
    }
  }

  /** Whether no command runs. */
  get isEmpty(): boolean {
    return this.#views.size === 0;
  }

  /** Whether a running command can write one of these real paths. */
  canWrite(paths: readonly string[]): boolean {
    return [...this.#views].some(({ mounted }) =>
      paths.some((path) => nearestKind(path, mounted) === 'write'),
    );
  }

  risksOf(mounted: ReadonlyMap<string, MountKind>, roots: readonly string[]): Risks {
    const needless = new Set<string>();
    const needed: string[] = [];
    for (const [path, kind] of mounted) {
      if (kind !== 'write' || !this.#canReplace(path)) continue;
      if (roots.includes(path) && nearestKind(dirname(path), mounted) !== 'write')
        needed.push(path);
      else needless.add(path);
    }
    return { needless, needed };
  }

  #canReplace(path: string): boolean {
    return [...this.#views].some(
      ({ mounted }) => !mounted.has(path) && nearestKind(dirname(path), mounted) === 'write',
    );
  }
}
