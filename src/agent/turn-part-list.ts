import { BuiltInTools } from './calls/built-in-tools.ts';
import { ClientTools } from './client-tools/client-tools.ts';
import { Compaction } from './compaction/compaction.ts';
import { awaitingUser } from './goal/goal-change.ts';
import { GoalKeeper } from './goal/goal-keeper.ts';
import { createGuardian } from './guardian/create-guardian.ts';
import { Hooks } from './hooks/hooks.ts';
import type { McpServices } from './mcp/mcp-tool-call.ts';
import { McpTools } from './mcp/mcp-tools.ts';
import { SubAgents } from './sub-agents/sub-agents.ts';
import { ToolFinder } from './tool-search/tool-finder.ts';
import type { TurnPartKind } from './turn/turn-part-deps.ts';

/** The services that single kinds of parts need. */
export interface PartServices {
  mcp: McpServices;
}

/**
 * The parts of every thread's turns, in the order in which they act. A new part needs its own file
 * and a line here.
 */
export const turnPartList = ({ mcp }: PartServices): readonly TurnPartKind[] => [
  // Before the built-in tools: a tool that a client declared takes the place of a built-in one of
  // its name.
  { create: (deps) => new ClientTools(deps) },
  { create: (deps) => new BuiltInTools(deps) },
  { create: (deps) => new McpTools(deps, mcp) },
  { create: createGuardian },
  // Before the compaction, which measures what they tell.
  { create: (deps) => new SubAgents(deps) },
  { create: (deps) => new Compaction(deps) },
  // After the compaction, which begins a session for hooks.
  { create: (deps) => new Hooks(deps) },
  { create: (deps) => new ToolFinder(deps) },
  { create: (deps) => new GoalKeeper(deps), reverted: ({ goal }) => awaitingUser(goal) },
];
