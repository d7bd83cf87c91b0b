import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { isProtectedName, PROTECTED_NAMES } from '../policy/sandbox-bounds.ts';

const FOLDERS_MAX = 10_000;
const FOUND_MAX = 100;
const NOT_ENTERED = new Set<string>(['node_modules', ...PROTECTED_NAMES]);
const AGE_MS_MAX = 30_000;
/** At most this part of the time is spent on walks. */
const WALK_SHARE = 0.02;
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

interface Walk {
  found: Promise<string[]>;
  freshUntil: number;
}

/**
 * Where the protected names stand below a writable root, apart from the root's own. A walk of a big tree is not made for each
 * command: what was found serves until it is half a minute old, longer where the walk took long, and, while it is made anew, still.
 */
export class NestedNames {
  readonly #clock: Clock;
  readonly #walks = new Map<string, Walk>();
  readonly #renewing = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Real paths, shallow ones first: of very many, or in a very big tree, only the first. */
  find(root: string): Promise<string[]> {
    const known = this.#walks.get(root);
    if (known === undefined) return this.#walk(root);
    if (this.#clock.monotonic() > known.freshUntil && !this.#renewing.has(root)) {
      this.#renewing.add(root);
      void this.#renew(root);
    }
    return known.found;
  }

  #walk(root: string): Promise<string[]> {
    const started = this.#clock.monotonic();
    const walk: Walk = { found: walkBelow(root), freshUntil: Number.POSITIVE_INFINITY };
    this.#walks.set(root, walk);
    return this.#timed(walk, started);
  }

  async #timed(walk: Walk, started: number): Promise<string[]> {
    const found = await walk.found;
    const ended = this.#clock.monotonic();
    walk.freshUntil = ended + Math.max(AGE_MS_MAX, (ended - started) / WALK_SHARE);
    return found;
  }

  async #renew(root: string): Promise<void> {
    const started = this.#clock.monotonic();
    const walk: Walk = { found: walkBelow(root), freshUntil: 0 };
    await this.#timed(walk, started);
    this.#walks.set(root, walk);
    this.#renewing.delete(root);
  }
}

/** Level by level; never rejects. */
async function walkBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [root];
  for (let next = 0; next < folders.length && next < FOLDERS_MAX; next += 1) {
    const folder = folders[next] ?? root;
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (isProtectedName(entry.name) && folder !== root) found.push(path);
      else if (entry.isDirectory() && !NOT_ENTERED.has(entry.name) && !KERNEL_FOLDERS.includes(path)) folders.push(path);
    }
    if (found.length >= FOUND_MAX) break;
  }
  return found.slice(0, FOUND_MAX);
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Whatever the system says of a folder that cannot be read, nothing in it can be made to run either.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}
