import type { Clock } from '../../base/clock.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { findNestedPlaces, type NestedOptions } from './find-nested-places.ts';
import type { NestedPlace } from './join-places.ts';

const AGE_MS_MAX = 30_000;
/** The largest share of the time that walks may take. */
const WALK_SHARE = 0.02;

interface Walk {
  /** The error if not all places can be protected. */
  found: readonly NestedPlace[] | ProcessStartError;
  freshUntil: number;
}

/** The walks of a root. */
interface RootWalks {
  root: string;
  options: NestedOptions;
  walk: Promise<Walk>;
  /** A newer walk. It replaces `walk` as soon as no command runs there. */
  next: Walk | null;
  renewing: boolean;
  /**
   * Whether the walk refused a command. If so, the next command starts a new walk, because the
   * reason may no longer exist.
   */
  refused: boolean;
  /** The number of commands that run there. */
  held: number;
}

/**
 * Finds the places below writable roots that must not change. Not every command walks the tree: a
 * result is used for 30 seconds, longer if the walk took long, and also during the next walk. It is
 * used as long as a command runs in the root, because that command could put links in the paths
 * that a newer walk finds.
 */
export class NestedNames {
  readonly #clock: Clock;
  readonly #known = new Map<string, RootWalks>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the places, shallow ones first. Call `release` when the command has ended. Rejects with
   * a `ProcessStartError` if there is too much to protect in a root.
   */
  async hold(
    roots: readonly string[],
    options: NestedOptions,
  ): Promise<{ nested: NestedPlace[]; release: () => void }> {
    const held = roots.map((root) => this.#hold(root, options));
    const release = () => {
      for (const known of held) known.held -= 1;
    };
    const walks = await Promise.all(held.map(({ walk }) => walk));
    const nested: NestedPlace[] = [];
    for (const { found } of walks) {
      if (found instanceof ProcessStartError) {
        release();
        for (const known of held) known.refused = true;
        throw found;
      }
      nested.push(...found);
    }
    return { nested, release };
  }

  #hold(root: string, options: NestedOptions): RootWalks {
    const key = JSON.stringify([root, options]);
    const known = this.#known.get(key) ?? this.#begin(root, options);
    this.#known.set(key, known);
    if (known.held === 0 && (known.refused || known.next !== null)) {
      known.walk =
        known.refused || known.next === null
          ? this.#walk(root, options)
          : Promise.resolve(known.next);
      known.next = null;
      known.refused = false;
    }
    known.held += 1;
    void this.#renewWhenOld(known, options);
    return known;
  }

  #begin(root: string, options: NestedOptions): RootWalks {
    return {
      root,
      options,
      walk: this.#walk(root, options),
      next: null,
      renewing: false,
      refused: false,
      held: 0,
    };
  }

  async #renewWhenOld(known: RootWalks, options: NestedOptions): Promise<void> {
    const { freshUntil } = known.next ?? (await known.walk);
    if (known.renewing || this.#clock.monotonic() <= freshUntil) return;
    known.renewing = true;
    known.next = await this.#walk(known.root, options);
    known.renewing = false;
  }

  async #walk(root: string, options: NestedOptions): Promise<Walk> {
    const started = this.#clock.monotonic();
    const found = await findNestedPlaces(root, options).catch(throwUnlessRefused);
    const ended = this.#clock.monotonic();
    // A refusal ends as soon as its reason is gone.
    if (found instanceof ProcessStartError) return { found, freshUntil: ended };
    return { found, freshUntil: ended + Math.max(AGE_MS_MAX, (ended - started) / WALK_SHARE) };
  }
}

function throwUnlessRefused(error: unknown): ProcessStartError {
  if (error instanceof ProcessStartError) return error;
  throw error;
}
