import type { ConfigWarningNotification } from '../protocol/generated/types.ts';
import { agentWarnings, roleWarnings } from './agents/agent-warnings.ts';
import type { Config } from './config.ts';
import { ConfigError, type ConfigLocation } from './config-error.ts';
import { isTable, valueAt } from './layers/config-table.ts';
import type { Layer } from './layers/layer.ts';
import { type ConfigSources, loadConfig } from './load-config.ts';
import { chooseProvider } from './providers/choose-provider.ts';
import { definedProviders, readProvider } from './providers/read-provider.ts';
import { SETTING_NAMES } from './settings.ts';
import { KNOWN_KEYS, suggestKey } from './suggest-key.ts';

const SANDBOX_KEYS = SETTING_NAMES.filter((name) => name.startsWith('sandbox_workspace_write.')).map((name) => name.split('.')[1] ?? '');

const REFUSED = 'The server refuses threads that need it until you correct it. Everything else works.';

/**
 * Returns the warnings that a client gets after `initialize`: a source that cannot be read, invalid values, ignored keys,
 * keys that look misspelt, and the use of the embedded model by default. Never throws a ConfigError.
 */
export async function configWarnings(sources: ConfigSources): Promise<ConfigWarningNotification[]> {
  let config: Config;
  try {
    config = await loadConfig(sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [warning(error, REFUSED)];
  }
  const { problem, path } = sources.trustedFiles;
  const ofTrust = problem === null ? [] : [{ summary: problem.message, details: null, path, range: null }];
  const ofLayers = [...projectWarnings(config), ...likelyTypos(config), ...agentWarnings(config)];
  return [...badValues(config), ...ofTrust, ...ofLayers, ...hookWarnings(config, false), ...embeddedDefault(config)];
}

/** Returns the warnings about a project's files: those that are not in force although the user trusts the project, and ignored keys. */
export function projectWarnings(config: Config): ConfigWarningNotification[] {
  const ofLayers = config.layers.flatMap((layer) => [...disabledFile(layer), ...ignoredKeys(layer)]);
  return [...ofLayers, ...roleWarnings(config, { isProjects: true }), ...hookWarnings(config, true)];
}

function hookWarnings({ hooks }: Config, isProjects: boolean): ConfigWarningNotification[] {
  const problems = [...hooks.errors, ...hooks.warnings].filter((problem) => problem.isProjects === isProjects);
  return problems.map(({ message, path }) => ({ summary: message, details: null, path, range: null }));
}

function disabledFile({ disabledReason, warnsDisabled, locate }: Layer): ConfigWarningNotification[] {
  if (disabledReason === null || !warnsDisabled) return [];
  return [{ summary: disabledReason, details: null, ...locate([]) }];
}

function ignoredKeys({ ignoredKeys: keys, locate }: Layer): ConfigWarningNotification[] {
  return keys.map(({ path, reason }) => {
    const suggested = path.length === 1 ? suggestKey(path[0] ?? '', KNOWN_KEYS) : null;
    const details = suggested === null ? 'Set it in the config.toml in your heddle home instead.' : `Did you mean ${suggested}?`;
    return warning(new ConfigError(`${path.join('.')} is ignored: ${reason}`, locate(path)), details);
  });
}

function badValues(config: Config): ConfigWarningNotification[] {
  const readings = [...SETTING_NAMES.map((name) => () => config.get(name)), ...(config.modelGiven ? [] : providerReadings(config))];
  const failures = readings.map(failureOf).filter((failure) => failure !== null);
  // One invalid table makes every setting in it fail with the same message.
  const byMessage = new Map(failures.map((failure) => [failure.message, warning(failure, REFUSED)]));
  return [...byMessage.values()];
}

/** Reads every provider. Only for a server that was not given a model: with one, providers are not used. */
function providerReadings(config: Config): (() => unknown)[] {
  const definitions = failureOf(() => definedProviders(config)) ? [] : definedProviders(config);
  return [() => definedProviders(config), () => chooseProvider(config, null), ...definitions.map((id) => () => readProvider(config, id))];
}

function failureOf(read: () => unknown): ConfigError | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function likelyTypos(config: Config): ConfigWarningNotification[] {
  return config.layers.flatMap((layer) => [
    ...typosIn(layer, [], KNOWN_KEYS),
    ...typosIn(layer, ['sandbox_workspace_write'], SANDBOX_KEYS),
  ]);
}

function typosIn(layer: Layer, table: readonly string[], known: readonly string[]): ConfigWarningNotification[] {
  const values = valueAt(layer.config, table);
  return Object.keys(isTable(values) ? values : {}).flatMap((key) => {
    const suggested = suggestKey(key, known);
    if (suggested === null) return [];
    const path = [...table, key];
    const label = layer.label === null ? '' : ` (${layer.label})`;
    return [warning(new ConfigError(`${path.join('.')}${label} is not a known key`, layer.locate(path)), `Did you mean ${suggested}?`)];
  });
}

function embeddedDefault(config: Config): ConfigWarningNotification[] {
  if (failureOf(() => chooseProvider(config, null)) !== null || !chooseProvider(config, null).embeddedDefault) return [];
  return [
    {
      summary: 'No model provider is configured: answers come from the embedded model, offline.',
      details: 'Set model_provider in config.toml, or OPENAI_API_KEY in the environment.',
      path: null,
      range: null,
    },
  ];
}

function warning(error: { message: string; location: ConfigLocation }, details: string): ConfigWarningNotification {
  return { summary: error.message, details, path: error.location.path, range: error.location.range };
}
