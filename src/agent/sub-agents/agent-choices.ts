import type { JsonObject } from '../../base/json-value.ts';
import type { AgentRole } from '../../config/agents/agent-role.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import type { AgentSettings } from '../settings/thread-configuration.ts';

interface Asked {
  model: string | null;
  effort: string | null;
}

/** The sources of an agent's model and effort beside the call. */
export interface ChoiceSources {
  role: AgentRole | null;
  settings: AgentSettings;
  /** The settings of the turn that starts the agent. */
  own: ThreadSettings;
}

/**
 * The model and the effort of an agent: those of its role, else those that the call asks for, else
 * the configured ones for agents, else those of the turn that starts it. `note` tells the model
 * what it asked for and did not get; null: nothing.
 */
export function agentChoices(
  asked: Asked,
  { role, settings, own }: ChoiceSources,
): { model: string; effort: string | null; note: string | null } {
  const config = role?.config ?? {};
  const model = text(config, 'model') ?? asked.model ?? settings.model ?? own.model;
  const effort =
    text(config, 'model_reasoning_effort') ?? asked.effort ?? settings.effort ?? own.effort;
  const overruled = [
    ...(asked.model === null || asked.model === model ? [] : [`the model ${model}`]),
    ...(asked.effort === null || asked.effort === effort ? [] : [`the reasoning effort ${effort}`]),
  ];
  const note =
    overruled.length === 0
      ? null
      : `The configuration of the role ${role?.name} sets ${overruled.join(' and ')}.`;
  return { model, effort, note };
}

function text(config: JsonObject, key: string): string | null {
  const value = config[key];
  return typeof value === 'string' ? value : null;
}
