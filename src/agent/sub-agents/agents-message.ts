import { contextMessage, escapeTags } from '../../instructions/context-message.ts';
import type { CollabAgentState, ResponseItem } from '../../protocol/generated/types.ts';
import { stateForModel } from './agent-state.ts';

/** Tells the model the states of agents that it has started and has not learned yet. */
export function agentsMessage(states: ReadonlyMap<string, CollabAgentState>): ResponseItem {
  const lines = [...states].map(([id, state]) => escapeTags(JSON.stringify({ agent_id: id, status: stateForModel(state) })));
  return contextMessage('user', [`<agents>\nThe states of agents that you have started:\n${lines.join('\n')}\n</agents>`]);
}
