import type { AgentEnds } from './agent-ends.ts';
import type { AgentsUsage } from './agents-usage.ts';

/** The counts for the threads that have agents: how often these ended a turn, and their tokens. */
export interface AgentCounts {
  readonly ends: AgentEnds;
  readonly usage: AgentsUsage;
}
