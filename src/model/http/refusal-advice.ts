import type { LocalServer } from '../../config/providers/provider-config.ts';
import { type Endpoint, shownUrl } from './endpoint.ts';

const UNKNOWN_MODEL_CODE = 'model_not_found';
const WRONG_KEY_CODE = 'invalid_api_key';
const UNKNOWN_MODEL = /\bmodel\b.*\b(?:not found|not exist|is unknown)|\b(?:unknown|invalid) model\b/i;
const NONE_LOADED = /\bno models? (?:is |are )?loaded\b/i;
const NO_TOOLS = /\bdoes not support (?:tools|tool|function)\b/i;
const HTTP_TO_HTTPS = /\bplain HTTP request was sent to HTTPS port\b|\bHTTP request to an HTTPS server\b/i;
/** How servers that answer every path with success say that there is nothing there. */
const WRONG_PATH = /\b(?:unexpected|unknown|invalid) (?:endpoint|path|route|url)\b|\b(?:endpoint|page|path|route|url) not found\b/i;
const PROXY_WANTS_CREDENTIALS = 407;

/** A refusal as far as advice needs it. */
export interface RefusalFacts {
  status: number;
  location: string | string[] | undefined;
  /** The model that was asked for. */
  model: string;
  text: string;
  codes: string[];
  quotaIsUsedUp: boolean;
}

/** What to do about a refusal, as a sentence with a blank before it; empty: the provider's own text has to do. */
export function refusalAdvice(endpoint: Endpoint, refused: RefusalFacts): string {
  const { status, text, codes } = refused;
  if (status === 401 || status === 403 || codes.includes(WRONG_KEY_CODE)) return keyAdvice(endpoint);
  if (NONE_LOADED.test(text)) return noneLoadedAdvice(endpoint.localServer, refused.model);
  if (codes.includes(UNKNOWN_MODEL_CODE) || (status < 500 && UNKNOWN_MODEL.test(text)))
    return modelAdvice(endpoint.localServer, refused.model);
  if (status === 404) return ' Check base_url of the provider, and that it has this model.';
  if (status >= 300 && status < 400) {
    return ` It points to ${target(endpoint, refused.location)}; redirects are not followed: change base_url.`;
  }
  if (WRONG_PATH.test(text)) return ' Check base_url of the provider.';
  if (NO_TOOLS.test(text)) return ' Choose a model that can call tools: every turn offers some.';
  if (HTTP_TO_HTTPS.test(text)) return ' Write https in base_url of the provider.';
  if (status === PROXY_WANTS_CREDENTIALS) return ' That is a proxy on the way, which wants credentials of its own.';
  return refused.quotaIsUsedUp ? ' What this key may use is used up: see the plan and the billing at the provider.' : '';
}

/** What to do where nobody answers at the endpoint. */
export function startAdvice(server: LocalServer | null): string {
  switch (server) {
    case 'ollama':
      return 'Start Ollama: open its app, or run "ollama serve". Where it listens elsewhere, set OLLAMA_HOST or base_url.';
    case 'lmstudio':
      return 'Start the server of LM Studio: in its Developer tab, or run "lms server start". Where it listens elsewhere, set base_url.';
    default:
      return 'Is the server running, and base_url right?';
  }
}

/** How to get a model that a provider does not have. */
function modelAdvice(server: LocalServer | null, model: string): string {
  switch (server) {
    case 'ollama':
      return ` Get it with "ollama pull ${model}", or choose one that "ollama list" shows.`;
    case 'lmstudio':
      return ` Download it in LM Studio or with "lms get ${model}", or choose one that "lms ls" shows.`;
    default:
      return ` The provider has no model "${model}" for this key: check the name.`;
  }
}

function noneLoadedAdvice(server: LocalServer | null, model: string): string {
  if (server !== 'lmstudio') return '';
  return ` Load the model in LM Studio or with "lms load ${model}", or switch its just-in-time loading on.`;
}

function keyAdvice({ keySource }: Endpoint): string {
  return keySource === null
    ? ' No key was sent: if one is needed, name its variable in env_key of the provider.'
    : ` Check the key in ${keySource}.`;
}

function target(endpoint: Endpoint, header: string | string[] | undefined): string {
  if (typeof header !== 'string' || !URL.canParse(header, endpoint.url.href)) return 'another place';
  return shownUrl(new URL(header, endpoint.url));
}
