import { dirname, isAbsolute, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { IncompleteConfigError } from '../config-error.ts';
import { flag, HTTP_URL, name, nullable, type Setting, wholeNumber } from '../settings.ts';
import { suggestKey } from '../suggest-key.ts';
import { HEADERS, headersFromEnv } from '../values/headers.ts';
import { isVariableName, readTexts } from '../values/variables.ts';
import type { ProviderConfig } from './provider-config.ts';
import { providerDefaults } from './provider-defaults.ts';

const RETRIES_MAX = 100;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS_MAX = 10 * 60_000;
const STREAM_IDLE_TIMEOUT_MS_MAX = 60 * 60 * 1000;
/** The names of the providers that need no definition. */
export const BUILT_IN_PROVIDERS: readonly string[] = ['openai', 'ollama', 'lmstudio', 'scripted'];

/** Returns a provider by its name, with defaults. A definition overrides the built-in provider of that name. Throws a ConfigError. */
export function readProvider(config: Config, id: string): ProviderConfig {
  if (config.isSet(['model_providers', id])) return readDefinition(config, id);
  if (id === 'scripted') return scriptedProvider(id);
  if (BUILT_IN_PROVIDERS.includes(id)) return readDefinition(config, id);
  const defined = definedProviders(config);
  const own = defined.length === 0 ? 'no providers' : defined.join(', ');
  const nearest = suggestKey(id, knownProviders(config));
  const meant = nearest === null ? '' : `, did you mean ${nearest}?`;
  const problem = `unknown model provider: ${id}${meant === '' ? '.' : meant} config.toml defines ${own}. Built in: ${BUILT_IN_PROVIDERS.join(', ')}`;
  throw config.values.model_provider === id ? config.incomplete(['model_provider'], problem) : new IncompleteConfigError(problem);
}

/** Returns the names of all providers: first those under `[model_providers]`, then the built-in ones. */
export function knownProviders(config: Config): string[] {
  return [...new Set([...definedProviders(config), ...BUILT_IN_PROVIDERS])];
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
  const isScripted = (id === 'scripted' || script !== null) && read('base_url', nullable(HTTP_URL)) === null;
  const wireApi = read<ProviderConfig['wireApi']>('wire_api', { ...WIRE_API, absent: isScripted ? 'scripted' : defaults.wireApi });
  if (wireApi === 'scripted') {
    const embedded = scriptedProvider(id);
    return { ...embedded, name: read('name', nullable(name())) ?? embedded.name, script };
  }
  if (script !== null) throw config.error([...path, 'script'], 'only a provider with wire_api = "scripted" can have a script');
  const envKey = read('env_key', nullable(ENV_KEY));
  const baseUrl = read('base_url', nullable(HTTP_URL)) ?? (id === 'openai' ? config.get('openai_base_url') : null) ?? defaults.baseUrl;
  if (baseUrl === null) throw config.incomplete(path, 'base_url is missing: expected the http or https URL of the API');
  return {
    id,
    name: read('name', nullable(name())) ?? defaults.name,
    baseUrl,
    envKey: envKey ?? defaults.envKey,
    usesLogin: read('requires_openai_auth', { ...flag(), absent: defaults.usesLogin && envKey === null }),
    wireApi,
    localServer: defaults.localServer,
    script: null,
    httpHeaders: {
      ...bearerHeader(read('experimental_bearer_token', nullable(BEARER_TOKEN))),
      ...read('http_headers', HEADERS),
      ...headersFromEnv(config, [...path, 'env_http_headers']),
    },
    queryParams: read('query_params', TEXTS),
    requestMaxRetries: read('request_max_retries', { ...wholeNumber(0, RETRIES_MAX), absent: defaults.requestMaxRetries }),
    streamMaxRetries: read('stream_max_retries', { ...wholeNumber(0, RETRIES_MAX), absent: defaults.streamMaxRetries }),
    connectTimeoutMs: read('connect_timeout_ms', { ...wholeNumber(1, CONNECT_TIMEOUT_MS_MAX), absent: CONNECT_TIMEOUT_MS }),
    streamIdleTimeoutMs: read('stream_idle_timeout_ms', { ...wholeNumber(1, STREAM_IDLE_TIMEOUT_MS_MAX), absent: 300_000 }),
  };
}

/** Returns the embedded model as a provider, under any name. */
export function scriptedProvider(id: string): ProviderConfig {
  return {
    id,
    name: id === 'scripted' ? 'Embedded model' : id,
    baseUrl: null,
    envKey: null,
    usesLogin: false,
    wireApi: 'scripted',
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

/** Returns the absolute path of a provider's script. A relative path starts at the folder of the file that sets it. */
function scriptPath(config: Config, providerPath: string[]): string | null {
  const path = [...providerPath, 'script'];
  const script = config.read(path, nullable(name()));
  if (script === null || isAbsolute(script)) return script;
  const file = config.layerOf(path)?.locate(path).path ?? null;
  if (file === null) throw config.error(path, `expected an absolute path, found ${JSON.stringify(script)}`);
  return resolve(dirname(file), script);
}

function bearerHeader(token: string | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

const WIRE_API: Setting<ProviderConfig['wireApi']> = {
  expected: '"responses", "chat" or "scripted"',
  absent: 'responses',
  read: (value) => (value === 'responses' || value === 'chat' || value === 'scripted' ? value : undefined),
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
