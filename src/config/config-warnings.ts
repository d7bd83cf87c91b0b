import { join } from 'node:path';
import type { ConfigWarningNotification } from '../protocol/generated/types.ts';
import { agentKeyWarnings, agentWarnings, roleWarnings } from './agents/agent-warnings.ts';
import type { Config } from './config.ts';
import { ConfigError, type ConfigLocation } from './config-error.ts';
import { type ConfigReads, errorOf, errorsWithSettings } from './config-errors.ts';
import { keyWarnings } from './keys/key-warnings.ts';
import { lossOf } from './keys/loss-of.ts';
import type { Layer } from './layers/layer.ts';
import { isRequestLayer } from './layers/request-layer.ts';
import { type ConfigSources, loadConfig } from './load-config.ts';
import { keyringWarnings } from './login/keyring-warnings.ts';
import { AUTH_FILE } from './login/stored-login.ts';
import { mcpProblems, mcpSettings } from './mcp/mcp-settings.ts';
import { chooseProvider } from './providers/choose-provider.ts';
import { modelAdvice } from './providers/stand-in-warning.ts';
import { requirementWarnings } from './requirements/requirement-warnings.ts';
import { KNOWN_KEYS, suggestKey } from './suggest-key.ts';
import { asksForWebSearch } from './web-search.ts';

/** The details of a warning about a value that threads cannot do without. */
export const REFUSED = 'The server refuses threads that need it until you correct it. Everything else works.';
/** The details of a warning about an MCP server that is not required. */
const MCP_REFUSED = 'Threads start without it until you correct it. Everything else works.';
const SERVER_RUNS = 'The server runs without it. docs/mcp.md lists the keys that heddle knows.';
/** The details of a warning about a login that is stored where heddle does not look. */
const LOGIN_AGAIN = 'Log in once more with account/login/start and an API key, or set OPENAI_API_KEY in the environment.';

/**
 * Returns the warnings that a client gets after `initialize`: a source that cannot be read, invalid values, ignored keys,
 * keys that look misspelt, and the use of the embedded model by default. `further` reads what other parts of the server use. Never
 * throws a ConfigError.
 */
export async function configWarnings(sources: ConfigSources, further: ConfigReads = () => []): Promise<ConfigWarningNotification[]> {
  let config: Config;
  try {
    config = await loadConfig(sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [toConfigWarning(error, REFUSED)];
  }
  const { problem, path } = sources.trustedFiles;
  const ofTrust = problem === null ? [] : [{ summary: problem.message, details: null, path, range: null }];
  const ofLayers = [
    ...projectWarnings(config),
    ...config.layers.flatMap(keyWarnings),
    ...requirementWarnings(config),
    ...agentWarnings(config),
    ...hookWarnings(config, false),
  ];
  const ofMcp = [
    ...mcpProblems(config).map(({ error, required }) => toConfigWarning(error, required ? REFUSED : MCP_REFUSED)),
    ...unknownServerKeys(config),
  ];
  const ofModels = [
    ...loginWarnings(config),
    ...keyringWarnings(config).map((error) => toConfigWarning(error, LOGIN_AGAIN)),
    ...embeddedDefault(config),
    ...idleWebSearch(config),
  ];
  return [...badValues(config, further), ...ofMcp, ...ofTrust, ...ofLayers, ...ofModels];
}

/** Returns the warnings about a project's files: those that are not in force although the user trusts the project, and ignored keys. */
export function projectWarnings(config: Config): ConfigWarningNotification[] {
  const ofLayers = config.layers.flatMap((layer) => [...disabledFile(layer), ...ignoredKeys(layer)]);
  return [...ofLayers, ...roleWarnings(config, { isProjects: true }), ...hookWarnings(config, true)];
}

/** Returns the warnings about keys of a request's `config` object that have no effect. */
export function requestWarnings(config: Config): ConfigWarningNotification[] {
  const ofLayer = (layer: Layer) => [...keyWarnings(layer), ...agentKeyWarnings(layer)];
  return [...config.layers.filter(isRequestLayer).flatMap(ofLayer), ...unknownServerKeys(config, isRequestLayer)];
}

/** The keys of MCP servers that have no effect, in layers that are asked for. */
function unknownServerKeys(config: Config, isAskedFor: (layer: Layer) => boolean = () => true): ConfigWarningNotification[] {
  const asked = mcpSettings(config).unknown.filter(({ path }) => {
    const layer = config.layerOf(path);
    return layer !== null && isAskedFor(layer);
  });
  return asked.map(({ path, problem }) => toConfigWarning(config.error(path, problem), SERVER_RUNS));
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
    return toConfigWarning(new ConfigError(`${path.join('.')} is ignored: ${reason}`, locate(path)), details);
  });
}

function badValues(config: Config, further: ConfigReads): ConfigWarningNotification[] {
  return errorsWithSettings(config, further).map(({ error, settings }) => toConfigWarning(error, lossOf(settings) ?? REFUSED));
}

function loginWarnings(config: Config): ConfigWarningNotification[] {
  const { problem, hasChatgptLogin, apiKey } = config.login;
  const path = join(config.home, AUTH_FILE);
  if (problem !== null) return [{ summary: problem, details: null, path, range: null }];
  // Otherwise the warning about the embedded model names it.
  if (!hasChatgptLogin || apiKey !== null || embeddedDefault(config).length > 0) return [];
  return [{ summary: 'heddle does not use the ChatGPT login in auth.json: it supports API keys', details: null, path, range: null }];
}

/** The warning that no provider is configured; none if one is. */
export function embeddedDefault(config: Config): ConfigWarningNotification[] {
  if (errorOf(() => chooseProvider(config, null)) !== null || !chooseProvider(config, null).embeddedDefault) return [];
  return [
    {
      summary: 'No model provider is configured: answers come from the embedded model, offline.',
      details: modelAdvice(config),
      path: null,
      range: null,
    },
  ];
}

/** Says that the user has asked for web search at a provider that cannot search. */
function idleWebSearch(config: Config): ConfigWarningNotification[] {
  const isWrong = errorOf(() => [chooseProvider(config, null), asksForWebSearch(config)]) !== null;
  if (config.modelGiven || isWrong || !asksForWebSearch(config)) return [];
  const { provider } = chooseProvider(config, null);
  if (provider.wireApi === 'responses') return [];
  const summary = `web_search has no effect: the provider ${provider.id} does not have the Responses API.`;
  const details = 'Choose a provider with wire_api = "responses" that searches the web, or remove the setting.';
  return [{ summary, details, path: null, range: null }];
}

/** Returns the warning about a problem of the configuration. `details` says what to do. */
export function toConfigWarning(error: { message: string; location: ConfigLocation }, details: string): ConfigWarningNotification {
  return { summary: error.message, details, path: error.location.path, range: error.location.range };
}
