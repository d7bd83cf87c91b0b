import { BuiltInTools } from '../agent/calls/built-in-tools.ts';
import { ClientTools } from '../agent/client-tools/client-tools.ts';
import { Compaction } from '../agent/compaction/compaction.ts';
import { awaitingUser } from '../agent/goal/goal-change.ts';
import { GoalKeeper } from '../agent/goal/goal-keeper.ts';
import { guardianKind } from '../agent/guardian/guardian-kind.ts';
import { Hooks } from '../agent/hooks/hooks.ts';
import type { McpServices } from '../agent/mcp/mcp-tool-call.ts';
import { McpTools } from '../agent/mcp/mcp-tools.ts';
import { SubmissionQueue } from '../agent/queue/submission-queue.ts';
import { SubAgents } from '../agent/sub-agents/sub-agents.ts';
import { ToolFinder } from '../agent/tool-search/tool-finder.ts';
import type { TurnPartKind } from '../agent/turn/turn-part-kind.ts';

/**
 * The parts of every thread's turns, in the order in which they act. `mcp`: the services that only
 * tools of MCP servers need. `more`: further parts, of the code that makes the server.
 */
export const turnPartList = (
  mcp: McpServices,
  more: readonly TurnPartKind[] = [],
): readonly TurnPartKind[] => [
  // Before the built-in tools: a client's tool takes the place of the built-in one of its name.
  { create: (thread) => new ClientTools(thread) },
  { create: (thread) => new BuiltInTools(thread) },
  { create: (thread) => new McpTools(thread, mcp) },
  guardianKind(),
  // Before the compaction, which measures what they tell.
  { create: (thread) => new SubAgents(thread) },
  { create: (thread) => new Compaction(thread) },
  // After the compaction, which begins a session for hooks.
  { create: (thread) => new Hooks(thread) },
  { create: (thread) => new SubmissionQueue(thread) },
  { create: (thread) => new GoalKeeper(thread), reverted: ({ goal }) => awaitingUser(goal) },
  ...more,
  // The last one: it searches the tools of all others.
  { create: (thread) => new ToolFinder(thread) },
];
