import type { AgentEndSignal } from './agent-end-signal.ts';
import type { AgentsUsage } from './agents-usage.ts';

/** The counts for the threads that have agents: how often these ended a turn, and their tokens. */
export interface AgentCounts {
  readonly ends: AgentEndSignal;
  readonly usage: AgentsUsage;
}
