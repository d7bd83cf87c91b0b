import { dirname, isAbsolute, resolve } from 'node:path';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { Config } from '../config.ts';
import { flag, HTTP_URL, name, nullable, type Setting, wholeNumber } from '../settings/setting.ts';
import { IncompleteConfigError } from '../toml/config-error.ts';
import { HEADERS, headersFromEnv, unsetHeaderVariables } from '../values/headers.ts';
import { isVariableName, readTexts } from '../values/variables.ts';
import { EMBEDDED, EMBEDDED_NAMES, isEmbeddedName } from './embedded-names.ts';
import type { ProviderConfig } from './provider-config.ts';
import { providerDefaults } from './provider-defaults.ts';

const RETRIES_MAX = 100;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS_MAX = 10 * 60_000;
const STREAM_IDLE_TIMEOUT_MS_MAX = 60 * 60 * 1000;
/** The names of the providers that need no definition. */
export const BUILT_IN_PROVIDERS: readonly string[] = ['openai', 'ollama', 'lmstudio', EMBEDDED];

/**
 * Returns a provider by its name, with defaults. A definition overrides the built-in provider of
 * that name. Throws a ConfigError.
 */
export function readProvider(config: Config, id: string): ProviderConfig {
  const names = isEmbeddedName(id) ? [id, ...EMBEDDED_NAMES] : [id];
  const own = names.find((one) => config.isSet(['model_providers', one]));
  if (own !== undefined) return readDefinition(config, own);
  if (isEmbeddedName(id)) return offlineProvider(EMBEDDED, 'embedded');
  if (BUILT_IN_PROVIDERS.includes(id)) return readDefinition(config, id);
  const defined = definedProviders(config);
  const listed = defined.length === 0 ? 'no providers' : defined.join(', ');
  const nearest = suggestKey(id, knownProviders(config));
  const meant = nearest === null ? '.' : `, did you mean ${nearest}?`;
  const problem = `unknown model provider: ${id}${meant} config.toml defines ${listed}. Built in: ${BUILT_IN_PROVIDERS.join(', ')}`;
  throw config.values.model_provider === id
    ? config.incomplete(['model_provider'], problem)
    : new IncompleteConfigError(problem);
}

/**
 * Returns the names of all providers: first those under `[model_providers]`, then the built-in
 * ones. The embedded model has one name, unless several of its names are defined.
 */
export function knownProviders(config: Config): string[] {
  const defined = definedProviders(config);
  const builtIn = defined.some(isEmbeddedName)
    ? BUILT_IN_PROVIDERS.filter((id) => !isEmbeddedName(id))
    : BUILT_IN_PROVIDERS;
  return [...new Set([...defined, ...builtIn])];
}

/** Returns the names under `[model_providers]`. */
export function definedProviders(config: Config): string[] {
  return config.keys(['model_providers']);
}

function readDefinition(config: Config, id: string): ProviderConfig {
  const path = ['model_providers', id];
  config.keys(path);
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const defaults = providerDefaults(id, config.env);
  const script = scriptPath(config, path);
  const offline = script === null ? 'embedded' : 'scripted';
  const isOffline =
    (isEmbeddedName(id) || script !== null) && read('base_url', nullable(HTTP_URL)) === null;
  const wireApi = read<ProviderConfig['wireApi']>('wire_api', {
    ...WIRE_API,
    absent: isOffline ? offline : defaults.wireApi,
  });
  if (wireApi === 'scripted' || wireApi === offline) {
    const provider = offlineProvider(id, offline);
    return { ...provider, name: read('name', nullable(name())) ?? provider.name, script };
  }
  if (script !== null)
    throw config.error(
      [...path, 'script'],
      'only a provider with wire_api = "scripted" can have a script',
    );
  const envKey = read('env_key', nullable(ENV_KEY));
  const baseUrl =
    read('base_url', nullable(HTTP_URL)) ??
    (id === 'openai' ? config.get('openai_base_url') : null) ??
    defaults.baseUrl;
  if (baseUrl === null)
    throw config.incomplete(path, 'base_url is missing: expected the http or https URL of the API');
  const unsetVariables = unsetHeaderVariables(config, [...path, 'env_http_headers']);
  return {
    id,
    name: read('name', nullable(name())) ?? defaults.name,
    baseUrl,
    envKey: envKey ?? defaults.envKey,
    usesLogin: read('requires_openai_auth', {
      ...flag(),
      absent: defaults.usesLogin && envKey === null,
    }),
    wireApi,
    localServer: defaults.localServer,
    script: null,
    httpHeaders: {
      ...bearerHeader(read('experimental_bearer_token', nullable(BEARER_TOKEN))),
      ...read('http_headers', HEADERS),
      ...headersFromEnv(config, [...path, 'env_http_headers']),
    },
    ...(unsetVariables.length > 0 && { unsetVariables }),
    queryParams: read('query_params', TEXTS),
    requestMaxRetries: read('request_max_retries', {
      ...wholeNumber(0, RETRIES_MAX),
      absent: defaults.requestMaxRetries,
    }),
    streamMaxRetries: read('stream_max_retries', {
      ...wholeNumber(0, RETRIES_MAX),
      absent: defaults.streamMaxRetries,
    }),
    connectTimeoutMs: read('connect_timeout_ms', {
      ...wholeNumber(1, CONNECT_TIMEOUT_MS_MAX),
      absent: CONNECT_TIMEOUT_MS,
    }),
    streamIdleTimeoutMs: read('stream_idle_timeout_ms', {
      ...wholeNumber(1, STREAM_IDLE_TIMEOUT_MS_MAX),
      absent: 300_000,
    }),
  };
}

/** Returns a provider that uses no network, under any name. */
export function offlineProvider(id: string, wireApi: 'scripted' | 'embedded'): ProviderConfig {
  return {
    id,
    name: isEmbeddedName(id) ? 'Embedded model' : id,
    baseUrl: null,
    envKey: null,
    usesLogin: false,
    wireApi,
    localServer: null,
    script: null,
    httpHeaders: {},
    queryParams: {},
    requestMaxRetries: 0,
    streamMaxRetries: 0,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    streamIdleTimeoutMs: 300_000,
  };
}

/**
 * Returns the absolute path of a provider's script. A relative path starts at the folder of the
 * file that sets it.
 */
function scriptPath(config: Config, providerPath: string[]): string | null {
  const path = [...providerPath, 'script'];
  const script = config.read(path, nullable(name()));
  if (script === null || isAbsolute(script)) return script;
  const file = config.layerOf(path)?.locate(path).path ?? null;
  if (file === null)
    throw config.error(path, `expected an absolute path, found ${JSON.stringify(script)}`);
  return resolve(dirname(file), script);
}

function bearerHeader(token: string | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** `scripted` without a script is an older name of `embedded`. */
const WIRE_APIS = ['responses', 'chat', 'scripted', 'embedded'] as const;

const WIRE_API: Setting<ProviderConfig['wireApi']> = {
  expected: '"responses", "chat", "scripted" or "embedded"',
  absent: 'responses',
  read: (value) => WIRE_APIS.find((api) => api === value),
};

const ENV_KEY: Setting<string> = {
  expected: 'the name of an environment variable, not the key itself',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && isVariableName(value) ? value : undefined),
};

const TEXTS: Setting<Record<string, string>> = {
  expected: 'a table of strings',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, () => true),
};

const BEARER_TOKEN: Setting<string> = {
  expected: 'a key without spaces',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : undefined),
};
