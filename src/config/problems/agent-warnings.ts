import { suggestKey } from '../../base/text/suggest-key.ts';
import type { Layer } from '../layers/layer.ts';
import { isAgentSetting, SETTING_NAMES } from '../settings/settings.ts';
import { ConfigError, type LocatedWarning } from '../toml/config-error.ts';
import { isTable, valueAt } from '../toml/config-table.ts';

const AGENT_KEYS = SETTING_NAMES.filter((name) => name.startsWith('agents.')).map((name) =>
  name.slice('agents.'.length),
);
const SECOND_VERSION = ['features', 'multi_agent_v2'];

/**
 * Returns the warnings about keys of `[agents]` and `[features]` in a layer that have no effect.
 */
export function agentWarnings(layer: Layer): LocatedWarning[] {
  if (layer.disabledReason !== null) return [];
  const tools = 'heddle has the tools of features.multi_agent, with every model.';
  return unusedAgentPaths(layer).map((path) =>
    noEffect(layer, path, path === SECOND_VERSION ? tools : suggestionFor(path.at(-1) ?? '')),
  );
}

/** Returns the paths of these keys. */
export function unusedAgentPaths({ config }: Pick<Layer, 'config'>): (readonly string[])[] {
  const agents = valueAt(config, ['agents']);
  const keys = Object.entries(isTable(agents) ? agents : {}).flatMap(([key, value]) => {
    // An agent's interruption is always told, which `true` asks for.
    const isServed =
      isTable(value) || isAgentSetting(key) || (key === 'interrupt_message' && value === true);
    return isServed ? [] : [['agents', key]];
  });
  const second = valueAt(config, SECOND_VERSION);
  const asksForSecond = second === true || (isTable(second) && second.enabled === true);
  return asksForSecond ? [...keys, SECOND_VERSION] : keys;
}

function suggestionFor(key: string): string {
  const suggested = suggestKey(key, AGENT_KEYS);
  return suggested === null
    ? `heddle has these settings of sub-agents: ${AGENT_KEYS.join(', ')}.`
    : `Did you mean ${suggested}?`;
}

function noEffect(layer: Layer, path: readonly string[], details: string): LocatedWarning {
  const label = layer.label === null ? '' : ` (${layer.label})`;
  const { message, location } = new ConfigError(
    `${path.join('.')}${label} has no effect`,
    layer.locate(path),
  );
  return { summary: message, details, location };
}
