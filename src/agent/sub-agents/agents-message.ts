import type { JsonValue } from '../../base/json-value.ts';
import { contextMessage, escapeTags } from '../../instructions/messages/context-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { AgentState } from '../lineage/agent-state.ts';
import { stateForModel, statusForModel } from './shown-state.ts';

/** The most agents that one message names. */
const AGENTS_MAX = 50;

/**
 * Tells the model the states of agents that it has started and has not learned yet, in about
 * `charsMax` characters beside their ids. The messages of agents for which that is too little are
 * left out, and so are the oldest of very many agents.
 */
export function agentsMessage(
  states: ReadonlyMap<string, AgentState>,
  charsMax: number,
): ResponseItem {
  const charsEach = Math.floor(charsMax / Math.min(AGENTS_MAX, states.size));
  return message(states, (state) => stateForModel(state, charsEach));
}

/** Tells a model that has forgotten its agents which states of them it knew. */
export function knownAgentsMessage(
  states: ReadonlyMap<string, Pick<AgentState, 'status'>>,
): ResponseItem {
  return message(states, ({ status }) => statusForModel(status));
}

function message<State>(
  states: ReadonlyMap<string, State>,
  forModel: (state: State) => JsonValue,
): ResponseItem {
  const named = [...states].slice(-AGENTS_MAX);
  const lines = named.map(([id, state]) =>
    escapeTags(JSON.stringify({ agent_id: id, status: forModel(state) })),
  );
  const more =
    states.size > named.length
      ? [`There are ${states.size - named.length} more, which you have started before these.`]
      : [];
  const text = [
    'The states of agents that you have started (wait_agent returns their messages):',
    ...lines,
    ...more,
  ].join('\n');
  return contextMessage('user', [`<agents>\n${text}\n</agents>`]);
}
