import type { Config } from '../config.ts';

/** Whether models may start agents at all. */
export function mayStartAgents(config: Config): boolean {
  return (
    config.get('agents.enabled') &&
    config.get('features.multi_agent') &&
    config.get('agents.max_depth') > 0
  );
}
