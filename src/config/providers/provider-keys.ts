import { isObject, type JsonObject } from '../../base/json-value.ts';
import { secretsOf } from '../../secrets/redact.ts';
import type { Config } from '../config.ts';
import { providerDefaults } from './provider-defaults.ts';

/** The keys that the configuration sends to providers. */
export interface ProviderKeys {
  /** The names of the environment variables that hold keys. */
  names: string[];
  /**
   * The keys themselves, in all forms of `secretsOf`: values of these variables, of `http_headers`
   * and `query_params`, and in URLs.
   */
  values: string[];
}

/** The keys of all providers, including those with an invalid definition. */
export function providerKeys({
  env,
  values,
  login,
}: Pick<Config, 'env' | 'values' | 'login'>): ProviderKeys {
  const defined = isObject(values.model_providers) ? (values.model_providers as JsonObject) : {};
  const all = ['openai', ...Object.keys(defined)].map((id) => {
    const provider = isObject(defined[id]) ? (defined[id] as JsonObject) : {};
    const defaults = providerDefaults(id, env);
    const fromEnv = texts(provider.env_http_headers);
    const key = provider.env_key ?? defaults.envKey;
    const names = [...Object.values(fromEnv), ...(typeof key === 'string' ? [key] : [])];
    const variables = names.map((name) => [
      name,
      (Object.hasOwn(env, name) ? env[name] : undefined)?.trim() ?? '',
    ]);
    const own = id === 'openai' ? values.openai_base_url : undefined;
    const url = addressOf(provider.base_url ?? own ?? defaults.baseUrl);
    for (const [name, value] of Object.entries(texts(provider.query_params)))
      url.searchParams.set(name, value);
    const token =
      typeof provider.experimental_bearer_token === 'string'
        ? { '': provider.experimental_bearer_token }
        : {};
    return {
      names,
      values: secretsOf(url, {
        ...texts(provider.http_headers),
        ...Object.fromEntries(variables),
        ...token,
      }),
    };
  });
  const stored = login.apiKey === null ? [] : secretsOf(addressOf(null), { '': login.apiKey });
  return {
    names: [...new Set(all.flatMap(({ names }) => names))],
    values: [...new Set([...all.flatMap((one) => one.values), ...stored])],
  };
}

/** The strings of a table. */
function texts(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** The URL, or one without any secret if the value is not a URL. */
function addressOf(value: unknown): URL {
  return new URL(typeof value === 'string' && URL.canParse(value) ? value : 'http://localhost');
}
