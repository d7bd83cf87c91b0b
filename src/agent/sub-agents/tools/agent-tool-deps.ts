import type { Clock } from '../../../base/clock.ts';
import type { AgentState } from '../../lineage/agent-state.ts';
import type { AgentLimits, AgentTree } from '../../lineage/agent-tree.ts';
import type { AgentSettings } from '../../settings/thread-configuration.ts';

/** The collaborators of the tools that start and reach agents. */
export interface AgentToolDeps {
  threadId: string;
  clock: Clock;
  tree: AgentTree;
  settings: AgentSettings;
  limits: AgentLimits;
  /** The model reads these states: it need not be told of them again. */
  told(states: ReadonlyMap<string, Pick<AgentState, 'status' | 'turnId'>>): void;
  /** The most characters of agents' messages that an output may have, for this model. */
  charsMax(model: string): number;
}
