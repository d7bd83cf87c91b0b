import type { Config } from '../../config/config.ts';

/**
 * How much of the model's reasoning clients see: nothing, its summaries, or its raw content as
 * well.
 */
export type ShownReasoning = 'nothing' | 'summaries' | 'all';

/** Returns what the configuration lets clients see. Hiding wins over showing raw content. */
export function shownReasoning(config: Config): ShownReasoning {
  if (config.get('hide_agent_reasoning')) return 'nothing';
  return config.get('show_raw_agent_reasoning') ? 'all' : 'summaries';
}
