import { EMBEDDED } from '../../config/providers/embedded-names.ts';
/** A provider that `heddle init` can write into config.toml. */
export interface OfferedProvider {
  id: string;
  /** The name for a person, and how the provider is reached. */
  label: string;
  /** The environment variable with its key. Null: it needs none. */
  keyVariable: string | null;
  /** Its table in config.toml, besides the variable of the key. Null: it is built in. */
  table: { name: string; base_url: string; wire_api: 'responses' | 'chat' } | null;
}

/** In the order in which they are shown. */
export const OFFERED_PROVIDERS: readonly OfferedProvider[] = [
  { id: 'openai', label: 'OpenAI', keyVariable: 'OPENAI_API_KEY', table: null },
  { id: 'ollama', label: 'Ollama on this machine', keyVariable: null, table: null },
  { id: 'lmstudio', label: 'LM Studio on this machine', keyVariable: null, table: null },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    keyVariable: 'OPENROUTER_API_KEY',
    table: { name: 'OpenRouter', base_url: 'https://openrouter.ai/api/v1', wire_api: 'chat' },
  },
  {
    id: 'llamacpp',
    label: 'llama-server of llama.cpp, port 8080',
    keyVariable: null,
    table: { name: 'llama.cpp', base_url: 'http://localhost:8080/v1', wire_api: 'chat' },
  },
  {
    id: 'vllm',
    label: 'vLLM, port 8000',
    keyVariable: null,
    table: { name: 'vLLM', base_url: 'http://localhost:8000/v1', wire_api: 'chat' },
  },
  {
    id: 'litellm',
    label: 'LiteLLM, port 4000',
    keyVariable: 'LITELLM_API_KEY',
    table: { name: 'LiteLLM', base_url: 'http://localhost:4000/v1', wire_api: 'chat' },
  },
  {
    id: EMBEDDED,
    label: 'the embedded model: offline, to try heddle',
    keyVariable: null,
    table: null,
  },
];

/**
 * The ids of the providers whose programs run on this machine and are looked for before the
 * question.
 */
export const LOCAL_PROVIDERS: readonly string[] = ['ollama', 'lmstudio'];

/** The hosts whose APIs are known to be the Responses API. */
const RESPONSES_HOST = /(?:^|\.)openai\.(?:com|azure\.com)$/;

/** The provider with this URL, which `isProviderUrl` accepts. Its id is made of the host. */
export function providerAt(url: string, keyVariable: string | null): OfferedProvider {
  const { hostname, host } = new URL(url);
  const id = host.replace(/[^a-z0-9]+/gi, '-').replace(/^-+|-+$/g, '');
  const taken = OFFERED_PROVIDERS.some((offered) => offered.id === id);
  const wire_api = RESPONSES_HOST.test(hostname) ? 'responses' : 'chat';
  const table = { name: host, base_url: url.replace(/\/+$/, ''), wire_api } as const;
  return { id: taken ? `${id}-api` : id, label: host, keyVariable, table };
}

/** Whether a text looks like a URL, so that it is not the id of a provider. */
export function looksLikeUrl(text: string): boolean {
  return text.includes('://');
}

/**
 * Says why a text cannot be the URL of an API. Null: it can. Never quotes it, because it may have a
 * key.
 */
export function urlProblem(text: string): string | null {
  if (!/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text))
    return 'expected an http or https URL, such as https://models.example.com/v1';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    return 'expected a URL without a user, a password and a query: config.toml gets no key';
  return null;
}
