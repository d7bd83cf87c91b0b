import type { Env } from '../../base/env.ts';
import type { LocalServer, ProviderConfig } from './provider-config.ts';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OLLAMA_PORT = '11434';

/** The values of a provider that config.toml does not set. */
export type ProviderDefaults = Pick<
  ProviderConfig,
  | 'name'
  | 'baseUrl'
  | 'envKey'
  | 'usesLogin'
  | 'localServer'
  | 'requestMaxRetries'
  | 'streamMaxRetries'
> & { wireApi: 'responses' | 'chat' };

const REMOTE = {
  envKey: null,
  usesLogin: false,
  wireApi: 'responses',
  localServer: null,
  requestMaxRetries: 4,
  streamMaxRetries: 5,
} as const;

/**
 * The chat API, because their Responses APIs are recent and incomplete. Few retries, because a
 * program that is not running does not start by itself, and the user who can start it should hear
 * about it soon.
 */
const LOCAL = {
  envKey: null,
  usesLogin: false,
  wireApi: 'chat',
  requestMaxRetries: 2,
  streamMaxRetries: 2,
} as const;

/** Returns the defaults of a provider by its name, built in or not. */
export function providerDefaults(id: string, env: Env): ProviderDefaults {
  switch (id) {
    case 'openai':
      return {
        ...REMOTE,
        name: 'OpenAI',
        baseUrl: env.OPENAI_BASE_URL || OPENAI_BASE_URL,
        envKey: 'OPENAI_API_KEY',
        usesLogin: true,
      };
    case 'ollama':
      return {
        ...LOCAL,
        name: 'Ollama',
        baseUrl: ollamaUrl(env.OLLAMA_HOST ?? ''),
        localServer: id satisfies LocalServer,
      };
    case 'lmstudio':
      return {
        ...LOCAL,
        name: 'LM Studio',
        baseUrl: 'http://localhost:1234/v1',
        localServer: id satisfies LocalServer,
      };
    default:
      return { ...REMOTE, name: id, baseUrl: null };
  }
}

/**
 * Returns the URL of Ollama's API for a value of OLLAMA_HOST. Reads it as Ollama does: a URL, or a
 * host, a port or both without a scheme. Replaces an address that listens on all interfaces by the
 * loopback address.
 */
function ollamaUrl(host: string): string {
  const given = host
    .trim()
    .replace(/^["']+|["']+$/g, '')
    .trim();
  const scheme = /^https?:\/\//i.exec(given)?.[0] ?? '';
  const rest = given.slice(scheme.length).replace(/\/+$/, '');
  const slash = rest.indexOf('/');
  const [authority, path] = slash < 0 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash)];
  const bareIpv6 = /^[\da-f]*:[\da-f]*:[\da-f:.]*$/i.test(authority);
  const [, name = '', port = ''] = bareIpv6
    ? ['', `[${authority}]`]
    : (/^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority) ?? []);
  const known = isPort(port) ? port : scheme === '' ? OLLAMA_PORT : '';
  return `${scheme === '' ? 'http://' : scheme.toLowerCase()}${reachable(name)}${known === '' ? '' : `:${known}`}${path}/v1`;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) < 65_536;
}

function reachable(name: string): string {
  if (name === '') return 'localhost';
  if (name === '0.0.0.0') return '127.0.0.1';
  return name === '[::]' ? '[::1]' : name;
}
