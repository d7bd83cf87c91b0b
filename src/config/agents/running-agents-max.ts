import type { Config } from '../config.ts';

/** How many agents of a session may run at a time. */
export function runningAgentsMax(config: Config): number {
  return (
    config.get('agents.max_concurrent_threads_per_session') ?? config.get('agents.max_threads')
  );
}
