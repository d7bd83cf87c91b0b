import type { SessionSource, SubAgentSource } from '../protocol/generated/types.ts';

/** How a thread was started by the agent of another thread. */
export type SpawnSource = Extract<SubAgentSource, { thread_spawn: unknown }>['thread_spawn'];

/** The origin of a thread that an agent of another thread started; null for every other thread. */
export function spawnSource(source: SessionSource): SpawnSource | null {
  if (typeof source === 'string' || !('subAgent' in source)) return null;
  const { subAgent } = source;
  return typeof subAgent === 'object' && 'thread_spawn' in subAgent ? subAgent.thread_spawn : null;
}
