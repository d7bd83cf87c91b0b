import { BuiltInTools } from './calls/built-in-tools.ts';
import { Compaction } from './compaction/compaction.ts';
import { awaitingUser } from './goal/goal-change.ts';
import { GoalKeeper } from './goal/goal-keeper.ts';
import { createGuardian } from './guardian/create-guardian.ts';
import { Hooks } from './hooks/hooks.ts';
import { SubAgents } from './sub-agents/sub-agents.ts';
import type { TurnPartKind } from './turn/turn-part.ts';

/** The parts of every thread's turns, in the order in which they act. A new part needs its own file and a line here. */
export const TURN_PART_LIST: readonly TurnPartKind[] = [
  { create: (deps) => new BuiltInTools(deps) },
  { create: createGuardian },
  { create: (deps) => new Compaction(deps) },
  // After the compaction, which makes the model forget its agents.
  { create: (deps) => new SubAgents(deps) },
  // After the compaction, which begins a session for hooks.
  { create: (deps) => new Hooks(deps) },
  { create: (deps) => new GoalKeeper(deps), reverted: ({ goal }) => awaitingUser(goal) },
];
