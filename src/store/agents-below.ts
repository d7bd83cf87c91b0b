import type { AgentRecord } from './thread-record.ts';
import { AGENTS_READ_MAX } from './thread-store.ts';

/** A part of the agents that some threads have started themselves. */
export interface AgentPage {
  agents: AgentRecord[];
  /**
   * The threads whose agents are still to be read: those of the first one after the agent
   * `afterId`.
   */
  parentIds: readonly string[];
  afterId: string;
}

export type ReadAgents = (parentIds: readonly string[], afterId: string) => Promise<AgentPage>;

/**
 * The agents below a thread, at any depth, oldest first, which are read in parts. At most
 * AGENTS_READ_MAX.
 */
export async function agentsBelow(threadId: string, read: ReadAgents): Promise<AgentRecord[]> {
  const found = new Map<string, AgentRecord>();
  let parentIds: readonly string[] = [threadId];
  for (let afterId = ''; parentIds.length > 0; ) {
    const page: AgentPage = await read(parentIds, afterId);
    // In a damaged file, threads can form a ring.
    const below = page.agents.filter(({ id }) => !found.has(id));
    for (const agent of below) found.set(agent.id, agent);
    parentIds = [...page.parentIds, ...below.map(({ id }) => id)];
    afterId = page.afterId;
  }
  return [...found.values()].sort(byAge).slice(0, AGENTS_READ_MAX);
}

function byAge(a: AgentRecord, b: AgentRecord): number {
  if (a.createdAtMs === b.createdAtMs) return a.id < b.id ? -1 : 1;
  return a.createdAtMs < b.createdAtMs ? -1 : 1;
}
