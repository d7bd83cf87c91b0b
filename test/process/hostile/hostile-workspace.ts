import { hasErrorCode } from '../../../src/base/system-error-code.ts';
import { PROTECTED_NAMES } from '../../../src/policy/permissions/sandbox-bounds.ts';
import { type HostileCall, hostileCall } from './hostile-calls.ts';
import { HostileWorld, type WorldOptions } from './hostile-world.ts';
import { GIT_LAYOUTS } from './layouts/git-layouts.ts';
import { NAME_LAYOUTS } from './layouts/name-layouts.ts';
import { ROOT_LAYOUTS } from './layouts/root-layouts.ts';
import { SIZE_LAYOUTS } from './layouts/size-layouts.ts';
import { Random } from './random.ts';

export const LAYOUTS = [...GIT_LAYOUTS, ...NAME_LAYOUTS, ...ROOT_LAYOUTS, ...SIZE_LAYOUTS];

const LAYOUTS_MAX = 5;
const CALLS_MAX = 2;

export interface HostileWorkspace {
  world: HostileWorld;
  /** The calls of the model: a turn for each list. */
  turns: HostileCall[][];
}

/**
 * Makes a workspace with hostile content in the folder `base`, and chooses what the model does
 * there.
 */
export function hostileWorkspace(
  seed: number,
  options: Omit<WorldOptions, 'random'>,
): HostileWorkspace {
  const random = new Random(seed);
  const world = new HostileWorld({ ...options, random });
  for (let count = random.between(1, LAYOUTS_MAX); count > 0; count--) {
    const layout = random.weighted(LAYOUTS);
    world.layouts.push(layout.name);
    unlessTaken(() => layout.make(world));
  }
  for (const path of PROTECTED_NAMES.map((name) => world.at(name))) {
    if (!world.roots.includes(path) && !world.guards.has(path)) world.keep(path);
  }
  const turns = Array.from({ length: random.weighted(TURN_COUNTS).count }, () =>
    Array.from({ length: random.between(1, CALLS_MAX) }, () => hostileCall(world)),
  );
  return { world, turns };
}

/**
 * Ignores errors because a path is taken: if two layouts use the same path, the later one may be
 * incomplete.
 */
function unlessTaken(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!hasErrorCode(error, TAKEN)) throw error;
  }
}

const TAKEN = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOENT', 'ELOOP', 'ENXIO'];

const TURN_COUNTS = [
  { count: 1, weight: 8 },
  { count: 2, weight: 2 },
  { count: 3, weight: 0.5 },
];
