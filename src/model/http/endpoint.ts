import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type HttpProxy, isDecodable, proxyFor } from '../../base/http/proxy-for.ts';
import { loginAdvice, NO_LOGIN, type StoredLogin } from '../../config/login/stored-login.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import { namesSecret } from '../../secrets/names-secret.ts';
import { secretsOf } from '../../secrets/redact.ts';
import { shownUrl } from './shown-url.ts';

/** The address of a provider's requests, and the words that errors use for it. */
export interface Endpoint {
  url: URL;
  headers: Record<string, string>;
  /** The provider's name and URL for errors: without credentials and query. */
  label: string;
  /** The place in which the key is set, as part of a sentence; null if no key is sent. */
  keySource: string | null;
  /**
   * The environment variables of `env_http_headers` that are not set: one of them may be for the
   * key.
   */
  unsetVariables: readonly string[];
  /** How to log in, as an end of a sentence; null if the provider does not take the login. */
  loginAdvice: string | null;
  /** Which local server this is, if errors can give advice about it. */
  localServer: ProviderConfig['localServer'];
  /** The proxy of the requests; null: they go directly. */
  proxy: HttpProxy | null;
  /**
   * The secrets to remove from messages with `redact`, because a provider may repeat them in an
   * error.
   */
  secrets: string[];
}

export interface EndpointDeps {
  env: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  /** The login that is stored in the home now. By default there is none. */
  storedLogin?: (() => StoredLogin) | undefined;
}

/**
 * Returns the endpoint for a path below the provider's `base_url`, or an error if the configuration
 * is not usable.
 */
export function resolveEndpoint(
  provider: ProviderConfig,
  path: string,
  { env, userAgent, storedLogin }: EndpointDeps,
): Endpoint | TurnError {
  const url = addressOf(provider, path);
  if ('message' in url) return url;
  const proxy = proxyFor(url, env);
  if (proxy !== null && 'problem' in proxy) return configError(proxy.problem, 'badRequest');
  const login = provider.usesLogin ? (storedLogin?.() ?? NO_LOGIN) : NO_LOGIN;
  const isStored = login.apiKey !== null;
  const key = login.apiKey ?? keyInEnv(provider, env);
  if (key === '') return configError(missingKeyText(provider, login), 'unauthorized');
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': userAgent,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...lowerCaseNames(provider.httpHeaders),
  };
  const bad = Object.entries(headers).find(([name, value]) => !isHeader(name, value));
  if (bad !== undefined)
    return configError(badHeaderText(provider, bad[0], isStored), 'badRequest');
  return {
    url,
    headers,
    label: `${provider.name} (${shownUrl(url)})`,
    keySource: keySource(provider, url, isStored),
    unsetVariables: provider.unsetVariables ?? [],
    loginAdvice: provider.usesLogin ? `log in with an API key.${loginAdvice(login)}` : null,
    localServer: provider.localServer,
    proxy,
    secrets: [
      ...secretsOf(url, { ...provider.httpHeaders, '': key ?? '' }),
      ...(proxy === null ? [] : secretsOf(proxy.url, {})),
    ],
  };
}

function addressOf({ id, baseUrl, queryParams }: ProviderConfig, path: string): URL | TurnError {
  const url = baseUrl !== null && URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return configError(
      `The base_url of model provider "${id}" is not an http or https URL.`,
      'badRequest',
    );
  }
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    return configError(
      `The user or password in the base_url of model provider "${id}" is not percent-encoded.`,
      'badRequest',
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, value);
  return url;
}

/** Null: none is sent. Empty: it is missing. */
function keyInEnv({ envKey }: ProviderConfig, env: EndpointDeps['env']): string | null {
  return envKey === null ? null : (ownValue(env, envKey) ?? '').trim();
}

function missingKeyText({ name, envKey, usesLogin }: ProviderConfig, login: StoredLogin): string {
  const missing = `The key of model provider "${name}" is missing:`;
  if (!usesLogin) return `${missing} set the environment variable ${envKey}.`;
  return `${missing} log in with an API key, or set the environment variable ${envKey}.${loginAdvice(login)}`;
}

function configError(message: string, codexErrorInfo: TurnError['codexErrorInfo']): TurnError {
  return { message, codexErrorInfo, additionalDetails: null };
}

function badHeaderText(provider: ProviderConfig, name: string, isStored: boolean): string {
  const isKey = name === 'authorization' && !hasAuthorizationHeader(provider);
  const source = isKey ? sourceOfKey(provider, isStored) : 'http_headers';
  return `The header "${name}" for model provider "${provider.name}" has characters that HTTP does not allow. Correct ${source}.`;
}

/**
 * Returns the source of the key that is sent: http_headers win over env_key, and both over the URL.
 */
function keySource(provider: ProviderConfig, url: URL, isStored: boolean): string | null {
  if (hasAuthorizationHeader(provider))
    return 'http_headers or experimental_bearer_token of the provider';
  if (isStored || provider.envKey !== null) return sourceOfKey(provider, isStored);
  // Azure has its key in the header `api-key`, others in the query.
  if (Object.keys(provider.httpHeaders).some(isKeyName))
    return 'http_headers or env_http_headers of the provider';
  if (Object.keys(provider.queryParams).some(isKeyName)) return 'query_params of the provider';
  return url.username === '' && url.password === '' ? null : 'base_url of the provider';
}

function isKeyName(name: string): boolean {
  return namesSecret(name) || name.toLowerCase() === 'key';
}

function sourceOfKey({ envKey }: ProviderConfig, isStored: boolean): string {
  return isStored ? 'auth.json in the home' : `the environment variable ${envKey}`;
}

function hasAuthorizationHeader({ httpHeaders }: ProviderConfig): boolean {
  return Object.keys(httpHeaders).some((name) => name.toLowerCase() === 'authorization');
}

/** Ignores inherited properties: the name comes from the configuration. */
function ownValue(
  values: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Headers with their names in lower case. */
export function lowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
