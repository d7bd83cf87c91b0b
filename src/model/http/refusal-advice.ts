import type { LocalServer } from '../../config/providers/provider-config.ts';
import type { Endpoint } from './endpoint.ts';
import { shownUrl } from './shown-url.ts';

const UNKNOWN_MODEL_CODE = 'model_not_found';
const WRONG_KEY_CODE = 'invalid_api_key';
const UNKNOWN_MODEL =
  /\bmodel\b.*\b(?:not found|not exist|is unknown)|\b(?:unknown|invalid) model\b/i;
const NONE_LOADED = /\bno models? (?:is |are )?loaded\b/i;
/**
 * How servers refuse calls of tools: for the model, or because of the options with which they were
 * started.
 */
const NO_TOOLS: readonly [RegExp, string][] = [
  [
    /\bdoes not support (?:tools|tool|function)\b|\bno endpoints found that support tool use\b/i,
    'Choose a model that can call tools',
  ],
  [
    /--enable-auto-tool-choice\b/,
    'Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model',
  ],
  [/--jinja\b|\bunsupported param: tools\b/i, 'Start llama-server with --jinja'],
];
const HTTP_TO_HTTPS =
  /\bplain HTTP request was sent to HTTPS port\b|\bHTTP request to an HTTPS server\b/i;
/** How servers that answer every path with status 200 report an unknown path. */
const WRONG_PATH =
  /\b(?:unexpected|unknown|invalid) (?:endpoint|path|route|url)\b|\b(?:endpoint|page|path|route|url) not found\b/i;
const PROXY_WANTS_CREDENTIALS = 407;

/** The facts of a refusal that advice depends on. */
export interface RefusalFacts {
  status: number;
  location: string | string[] | undefined;
  /** The requested model. */
  model: string;
  text: string;
  codes: string[];
  quotaIsUsedUp: boolean;
}

/**
 * Advice about a refusal: a sentence after a space, or an empty string if there is none beyond the
 * provider's text.
 */
export function refusalAdvice(endpoint: Endpoint, refused: RefusalFacts): string {
  const { status, text, codes } = refused;
  if (status === 401 || status === 403 || codes.includes(WRONG_KEY_CODE))
    return keyAdvice(endpoint);
  const toolAdvice = NO_TOOLS.find(([words]) => words.test(text))?.[1];
  if (toolAdvice !== undefined) return ` ${toolAdvice}: every turn offers tools.`;
  if (NONE_LOADED.test(text)) return noneLoadedAdvice(endpoint.localServer, refused.model);
  if (codes.includes(UNKNOWN_MODEL_CODE) || (status < 500 && UNKNOWN_MODEL.test(text)))
    return modelAdvice(endpoint.localServer, refused.model);
  if (status === 404 || status === 405)
    return ` Check base_url of the provider, and that the provider has this model.${chatAdvice(endpoint)}`;
  if (status >= 300 && status < 400) {
    return ` It redirects to ${target(endpoint, refused.location)}, which heddle does not follow. Change base_url.`;
  }
  if (WRONG_PATH.test(text)) return ` Check base_url of the provider.${chatAdvice(endpoint)}`;
  if (HTTP_TO_HTTPS.test(text)) return ' Use https in base_url of the provider.';
  if (status === PROXY_WANTS_CREDENTIALS) return proxyAdvice(endpoint);
  return refused.quotaIsUsedUp
    ? ' The quota of this key is used up. Check your plan and billing with the provider.'
    : '';
}

/** Advice about a proxy that wants a user and a password. */
export function proxyAdvice({ proxy }: Pick<Endpoint, 'proxy'>): string {
  if (proxy === null) return ' A proxy on the way requires its own credentials.';
  return ` The proxy ${proxy.url.origin} requires a user and a password: put them into the URL in ${proxy.variable}.`;
}

/** Advice for an endpoint that does not answer. */
export function startAdvice(server: LocalServer | null): string {
  switch (server) {
    case 'ollama':
      return 'Start Ollama: open its app, or run "ollama serve". If it listens on another address, set OLLAMA_HOST or base_url.';
    case 'lmstudio':
      return 'Start the LM Studio server in its Developer tab, or run "lms server start". If it listens on another address, set base_url.';
    default:
      return 'Check that the server is running and that base_url is correct.';
  }
}

/** Advice on how to get a model that the provider does not have. */
function modelAdvice(server: LocalServer | null, model: string): string {
  switch (server) {
    case 'ollama':
      return ` Get it with "ollama pull ${model}", or choose a model that "ollama list" shows.`;
    case 'lmstudio':
      return ` Download it in LM Studio or with "lms get ${model}", or choose a model that "lms ls" shows.`;
    default:
      return ` The provider has no model "${model}" for this key. Check the name.`;
  }
}

function noneLoadedAdvice(server: LocalServer | null, model: string): string {
  if (server !== 'lmstudio') return '';
  return ` Load the model in LM Studio or with "lms load ${model}", or turn on just-in-time loading.`;
}

/** Many providers have only the older of the two APIs. */
function chatAdvice({ url }: Endpoint): string {
  return url.pathname.endsWith('/responses')
    ? ' If it has only the Chat Completions API, set wire_api = "chat" for it.'
    : '';
}

function keyAdvice({ keySource, unsetVariables, loginAdvice }: Endpoint): string {
  if (keySource !== null) return ` Check the key in ${keySource}.`;
  const [unset] = unsetVariables;
  if (unset !== undefined)
    return ` No key was sent: the environment variable ${unset}, which env_http_headers names, is not set.`;
  const how = loginAdvice ?? 'set env_key of the provider to the name of its environment variable.';
  return ` No key was sent. If the provider needs one, ${how}`;
}

function target(endpoint: Endpoint, header: string | string[] | undefined): string {
  if (typeof header !== 'string' || !URL.canParse(header, endpoint.url.href)) return 'another URL';
  return shownUrl(new URL(header, endpoint.url));
}
