import type { HostileWorld } from '../hostile-world.ts';

/** One kind of hostile content. */
export interface Layout {
  name: string;
  /** How often it is chosen, compared with the others. Expensive layouts have less than 1. */
  weight: number;
  make(world: HostileWorld): void;
}
