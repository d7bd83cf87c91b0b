import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { isProtectedName, PROTECTED_NAMES } from '../../policy/permissions/sandbox-bounds.ts';
import { KERNEL_FOLDERS } from './kernel-folders.ts';

const FOLDERS_MAX = 10_000;
const FOUND_MAX = 100;
/** The kernel's limit is 4,095, including a prefix by bubblewrap. A longer path cannot be mounted, and would make every command fail. */
const PATH_BYTES_MAX = 4000;
const NOT_ENTERED = new Set<string>(['node_modules', ...PROTECTED_NAMES]);
const AGE_MS_MAX = 30_000;
/** The largest share of the time that walks may take. */
const WALK_SHARE = 0.02;

/** The depth of the walk below a folder that every user can write to, such as /tmp: its folders are mostly unrelated. */
const SHARED_DEPTH_MAX = 1;
/** The mode bits of such a folder: writable by others, and sticky. */
const SHARED = 0o1002;

interface Walk {
  found: readonly string[];
  freshUntil: number;
}

/** The walks of a root. */
interface RootWalks {
  walk: Promise<Walk>;
  /** A newer walk. It replaces `walk` as soon as no command runs there. */
  next: Walk | null;
  renewing: boolean;
  /** The number of commands that run there. */
  held: number;
}

/**
 * Finds the protected names below writable roots, except directly in a root. Not every command walks the tree: a result is used
 * for 30 seconds, longer if the walk took long, and also during the next walk. It is used as long as a command runs in the root,
 * because that command could put links in the paths that a newer walk finds.
 */
export class NestedNames {
  readonly #clock: Clock;
  readonly #known = new Map<string, RootWalks>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns real paths, shallow ones first, limited to FOUND_MAX per root. Call `release` when the command has ended. */
  async hold(roots: readonly string[]): Promise<{ nested: string[]; release: () => void }> {
    const held = roots.map((root) => this.#hold(root));
    const walks = await Promise.all(held.map(({ walk }) => walk));
    const release = () => {
      for (const known of held) known.held -= 1;
    };
    return { nested: walks.flatMap(({ found }) => found), release };
  }

  #hold(root: string): RootWalks {
    const known = this.#known.get(root) ?? { walk: this.#walk(root), next: null, renewing: false, held: 0 };
    this.#known.set(root, known);
    if (known.held === 0 && known.next !== null) {
      known.walk = Promise.resolve(known.next);
      known.next = null;
    }
    known.held += 1;
    void this.#renewWhenOld(root, known);
    return known;
  }

  async #renewWhenOld(root: string, known: RootWalks): Promise<void> {
    const { freshUntil } = known.next ?? (await known.walk);
    if (known.renewing || this.#clock.monotonic() <= freshUntil) return;
    known.renewing = true;
    known.next = await this.#walk(root);
    known.renewing = false;
  }

  async #walk(root: string): Promise<Walk> {
    const started = this.#clock.monotonic();
    const found = await walkBelow(root);
    const ended = this.#clock.monotonic();
    return { found, freshUntil: ended + Math.max(AGE_MS_MAX, (ended - started) / WALK_SHARE) };
  }
}

/** Walks level by level. Folders that cannot be read count as empty. */
async function walkBelow(root: string): Promise<string[]> {
  const isShared = ((statOf(root)?.mode ?? 0) & SHARED) === SHARED;
  const depthMax = isShared ? SHARED_DEPTH_MAX : Number.POSITIVE_INFINITY;
  const found: string[] = [];
  const folders = [{ path: root, depth: 0 }];
  for (let next = 0; next < folders.length && next < FOLDERS_MAX && found.length < FOUND_MAX; next += 1) {
    const { path, depth } = folders[next] ?? { path: root, depth: 0 };
    const { names, below } = await lookInto(path);
    if (depth > 0) found.push(...names);
    if (depth < depthMax) folders.push(...below.map((folder) => ({ path: folder, depth: depth + 1 })));
  }
  return found.slice(0, FOUND_MAX);
}

/** Returns the protected names in a folder, and the folders to read next. */
async function lookInto(folder: string): Promise<{ names: string[]; below: string[] }> {
  const entries = (await entriesOf(folder)).filter(({ name }) => Buffer.byteLength(folder) + Buffer.byteLength(name) < PATH_BYTES_MAX);
  const pathOf = ({ name }: Dirent) => join(folder, name);
  const entered = entries.filter((entry) => entry.isDirectory() && !NOT_ENTERED.has(entry.name));
  return {
    names: entries.filter(({ name }) => isProtectedName(name)).map(pathOf),
    below: entered.map(pathOf).filter((path) => !KERNEL_FOLDERS.includes(path)),
  };
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Nothing in a folder that cannot be read can be made to run, whatever the error is.
    if (systemErrorCode(error) !== null) return [];
    throw error;
  }
}
