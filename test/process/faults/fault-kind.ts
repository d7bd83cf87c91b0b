import type { HelperShell } from '../hostile/helper-shell.ts';
import type { World } from './world.ts';

/** The means that all worlds of a run share. */
export interface FaultTools {
  readonly shell: HelperShell;
  /** A database of heddle that belongs to another home. */
  readonly otherDatabase: string;
}

/** A kind of fault. */
export interface FaultKind {
  name: string;
  /** A kind with weight 2 has twice as many seeds as one with weight 1. */
  weight: number;
  /** The library that makes the disk faulty, or a program. */
  needs?: 'library' | 'prlimit';
  /** Begins turns, makes the fault, and lifts it. Turns may still run then. */
  run(world: World, tools: FaultTools): Promise<void>;
}
