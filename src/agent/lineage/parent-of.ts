import { spawnSource } from '../../store/spawn-source.ts';
import type { AgentRecord } from '../../store/thread-record.ts';

/** The id of the thread that has started an agent; null for other threads. */
export function parentOf({ source }: Pick<AgentRecord, 'source'>): string | null {
  return spawnSource(source)?.parent_thread_id ?? null;
}

/** Whether the thread is an agent of the session. */
export function isAgentOf(
  record: Pick<AgentRecord, 'source' | 'sessionId'>,
  sessionId: string,
): boolean {
  return record.sessionId === sessionId && spawnSource(record.source) !== null;
}

/** Whether the agent is neither closed nor archived. */
export function isOpen({
  agentClosedAtMs,
  archivedAtMs,
}: Pick<AgentRecord, 'agentClosedAtMs' | 'archivedAtMs'>): boolean {
  return agentClosedAtMs === null && archivedAtMs === null;
}
