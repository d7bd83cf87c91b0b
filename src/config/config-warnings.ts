import { join } from 'node:path';
import type { ConfigWarningNotification } from '../protocol/generated/types.ts';
import { roleWarnings } from './agents/agent-warnings.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { type ConfigReads, errorOf } from './config-errors.ts';
import { configProblems, ineffectiveKeys, REFUSED, toConfigWarning, unknownServerKeys } from './config-problems.ts';
import { TOP_KEYS } from './keys/known-tables.ts';
import type { Layer } from './layers/layer.ts';
import { isRequestLayer } from './layers/request-layer.ts';
import { type ConfigSources, loadConfig } from './load-config.ts';
import { keyringWarnings } from './login/keyring-warnings.ts';
import { AUTH_FILE } from './login/stored-login.ts';
import { chooseProvider } from './providers/choose-provider.ts';
import { modelAdvice } from './providers/stand-in-warning.ts';
import { suggestKey } from './suggest-key.ts';
import { asksForWebSearch } from './web-search.ts';

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
  const ofSettings = configProblems(config, further).map(({ warning }) => warning);
  const ofLogins = [...loginWarnings(config), ...keyringWarnings(config).map((error) => toConfigWarning(error, LOGIN_AGAIN))];
  const ofModels = [...ofLogins, ...embeddedDefault(config), ...idleWebSearch(config)];
  return [...ofSettings, ...ofTrust, ...projectWarnings(config), ...ofModels];
}

/** Returns the warnings about a project's files: those that are not in force although the user trusts the project, and ignored keys. */
export function projectWarnings(config: Config): ConfigWarningNotification[] {
  const ofLayers = config.layers.flatMap((layer) => [...disabledFile(layer), ...ignoredKeys(layer)]);
  return [...ofLayers, ...roleWarnings(config, { isProjects: true }), ...hookWarnings(config)];
}

/** Returns the warnings about keys of a request's `config` object that have no effect. */
export function requestWarnings(config: Config): ConfigWarningNotification[] {
  return [...config.layers.filter(isRequestLayer).flatMap(ineffectiveKeys), ...unknownServerKeys(config, isRequestLayer)];
}

function hookWarnings({ hooks }: Config): ConfigWarningNotification[] {
  const problems = [...hooks.errors, ...hooks.warnings].filter(({ isProjects }) => isProjects);
  return problems.map(({ message, path }) => ({ summary: message, details: null, path, range: null }));
}

function disabledFile({ disabledReason, warnsDisabled, locate }: Layer): ConfigWarningNotification[] {
  if (disabledReason === null || !warnsDisabled) return [];
  return [{ summary: disabledReason, details: null, ...locate([]) }];
}

function ignoredKeys({ ignoredKeys: keys, locate }: Layer): ConfigWarningNotification[] {
  return keys.map(({ path, reason }) => {
    const suggested = path.length === 1 ? suggestKey(path[0] ?? '', TOP_KEYS) : null;
    const details = suggested === null ? 'Set it in the config.toml in your heddle home instead.' : `Did you mean ${suggested}?`;
    return toConfigWarning(new ConfigError(`${path.join('.')} is ignored: ${reason}`, locate(path)), details);
  });
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
