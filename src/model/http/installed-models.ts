import type { Clock } from '../../base/clock.ts';
import { HttpClient } from '../../base/http/http-client.ts';
import type { Break, HttpExchange } from '../../base/http/http-exchange.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import { parseLongJson } from '../../base/parse-long-json.ts';
import type { LocalServer, ProviderConfig } from '../../config/providers/provider-config.ts';
import { redact } from '../../secrets/redact.ts';
import { type Endpoint, type EndpointDeps, resolveEndpoint } from './endpoint.ts';
import { httpFailure, wholeFailure } from './http-failure.ts';
import { startAdvice } from './refusal-advice.ts';
import { unansweredFailure } from './unanswered-failure.ts';

/** The path below `base_url`. */
const LIST_PATH = 'models';
/** How long a provider may take to list its models. */
export const LISTING_MS_MAX = 5_000;
/** Gateways list hundreds of models, each with a long description. */
const LISTING_CHARS_MAX = 16 * 1024 * 1024;
/** So many models are told. */
const MODELS_MAX = 2_000;
const SUCCESS = 200;
/**
 * Models are listed too that cannot hold a conversation in text, such as those for embeddings,
 * images and speech.
 */
const NO_CONVERSATION =
  /(?:^|[-_/:])(?:embed|whisper|tts|dall-e|image|imagen|sora|moderation|transcribe|realtime|rerank|guard)|text-(?:ada|babbage|curie|davinci)|^(?:babbage|davinci)-/i;

interface ListingDeps extends EndpointDeps {
  clock: Clock;
  log: Log;
}

/**
 * The ids of the models that can hold a conversation; or, if the server did not list them, why:
 * sentences without secrets.
 */
export type InstalledModels = string[] | { problem: string };

/**
 * A provider's list of its models. `windows`: the context windows in tokens, by id, as far as it
 * has them.
 */
export type ModelListing =
  | { ids: string[]; windows: ReadonlyMap<string, number> }
  | { problem: string };

/** Asks a provider for its models. Never rejects. */
export async function listProviderModels(
  provider: ProviderConfig,
  deps: ListingDeps,
): Promise<ModelListing> {
  const listing = await askListing(provider, LIST_PATH, deps);
  if ('problem' in listing) return { problem: listing.problem };
  const { endpoint, body } = listing;
  const entries = listedModels(await parseLongJson(body));
  if (entries !== null)
    return {
      ids: modelIds(entries).map((id) => redact(id, endpoint.secrets)),
      windows: windowsOf(entries),
    };
  const told = wholeFailure(endpoint, { body, model: 'NAME' });
  return {
    problem:
      told?.error.message ??
      `${endpoint.label} did not answer with a list of models. Check base_url of the provider.`,
  };
}

/** Says that a provider has not listed its models in this time. */
export function slowListing(
  provider: ProviderConfig,
  deps: EndpointDeps,
  ms: number,
): { problem: string } {
  const endpoint = resolveEndpoint(provider, LIST_PATH, deps);
  if ('message' in endpoint) return { problem: endpoint.message };
  return {
    problem: `${endpoint.label} did not answer within ${ms / 1_000} s. ${startAdvice(endpoint.localServer)}`,
  };
}

/** How a provider answers when it is asked for its models. */
export interface ProviderAnswer {
  /** Why it cannot be used, as sentences without secrets; null: nothing shows that it cannot. */
  problem: string | null;
  /** The ids of all models that it lists; null: it has not listed them. */
  listed: string[] | null;
}

/**
 * Asks a provider for its models, to see whether it can be reached, takes the key and has a model.
 * Never rejects, and takes five seconds at most.
 */
export async function askProvider(
  provider: ProviderConfig,
  deps: ListingDeps,
): Promise<ProviderAnswer> {
  const listing = await askListing(provider, LIST_PATH, deps);
  if (!('problem' in listing)) {
    const entries = listedModels(await parseLongJson(listing.body));
    return {
      problem: null,
      listed:
        entries === null ? null : entries.map(({ id }) => redact(id, listing.endpoint.secrets)),
    };
  }
  const { problem, status } = listing;
  // A provider need not have a list.
  const isUnusable = status === null || REFUSED_KEY.has(status) || status >= SERVER_ERROR;
  return { problem: isUnusable ? problem : null, listed: null };
}

/** The statuses of a key that is missing or wrong. */
const REFUSED_KEY = new Set([401, 403]);
const SERVER_ERROR = 500;

/**
 * The context windows, in tokens, with which a program on the user's machine runs the models that
 * it has loaded, by their names. Empty for other providers, and if it does not say so. Never
 * rejects, and takes five seconds at most.
 */
export async function loadedWindows(
  provider: ProviderConfig,
  deps: ListingDeps,
): Promise<ReadonlyMap<string, number>> {
  const { localServer, baseUrl } = provider;
  if (localServer === null || baseUrl === null) return new Map();
  const { path, list, name, field } = LOADED[localServer];
  const listing = await askListing(
    { ...provider, baseUrl: baseUrl.replace(/\/v1\/*$/, '') },
    path,
    deps,
  );
  const body = 'problem' in listing ? null : await parseLongJson(listing.body);
  const entries = isObject(body) && Array.isArray(body[list]) ? body[list] : [];
  return new Map(
    entries.filter(isObject).flatMap((entry): [string, number][] => {
      const id = entry[name];
      const tokens = tokensOf(entry, [field]);
      return typeof id !== 'string' || tokens === null
        ? []
        : [id, id.replace(/:latest$/, '')].map((known) => [known, tokens]);
    }),
  );
}

/** Where these programs say which models they have loaded, beside their APIs for models. */
const LOADED: Record<LocalServer, { path: string; list: string; name: string; field: string }> = {
  ollama: { path: 'api/ps', list: 'models', name: 'name', field: 'context_length' },
  lmstudio: { path: 'api/v0/models', list: 'data', name: 'id', field: 'loaded_context_length' },
};

function windowsOf(entries: readonly (JsonObject & { id: string })[]): Map<string, number> {
  return new Map(
    entries.flatMap((entry): [string, number][] => {
      const tokens = tokensOf(entry, WINDOW_FIELDS);
      return tokens === null ? [] : [[entry.id, tokens]];
    }),
  );
}

/** The first of these fields that is a number of tokens. Null: none is. */
function tokensOf(entry: Record<string, unknown>, fields: readonly string[]): number | null {
  const tokens = fields
    .map((field) => entry[field])
    .find((value) => Number.isSafeInteger(value) && Number(value) > 0);
  return tokens === undefined ? null : Number(tokens);
}

/** The fields in which providers list context windows. */
const WINDOW_FIELDS = [
  'context_length',
  'max_model_len',
  'context_window',
  'max_context_length',
] as const;

/** `status`: the HTTP status of an answer that is no success; null: there was no answer. */
type Listing = { endpoint: Endpoint; body: string } | { problem: string; status: number | null };

async function askListing(
  provider: ProviderConfig,
  path: string,
  deps: ListingDeps,
): Promise<Listing> {
  const endpoint = resolveEndpoint(provider, path, deps);
  if ('message' in endpoint) return { problem: endpoint.message, status: null };
  const { url, proxy, headers } = endpoint;
  const tooLate = new AbortController();
  const timer = deps.clock.setTimer(() => tooLate.abort(), LISTING_MS_MAX);
  const httpRequest = {
    method: 'GET' as const,
    url,
    proxy,
    headers: { ...headers, accept: 'application/json' },
    body: null,
    connectMsMax: LISTING_MS_MAX,
    idleMsMax: LISTING_MS_MAX,
  };
  const exchange = await new HttpClient(deps).ask(httpRequest, tooLate.signal);
  try {
    const head = await exchange.head();
    if ('broken' in head)
      return {
        problem: unansweredText(endpoint, head, () => slowListing(provider, deps, LISTING_MS_MAX)),
        status: null,
      };
    const body = await wholeBody(exchange);
    if (head.status === SUCCESS) return { endpoint, body };
    const { error } = httpFailure(endpoint, {
      ...head,
      body,
      model: 'NAME',
      now: deps.clock.now(),
    });
    return { problem: error.message, status: head.status };
  } finally {
    timer.clear();
    exchange.close();
  }
}

function unansweredText(endpoint: Endpoint, why: Break, slow: () => { problem: string }): string {
  if (why.broken !== 'network') return slow().problem;
  return unansweredFailure(endpoint, why, {
    connectMsMax: LISTING_MS_MAX,
    idleMsMax: LISTING_MS_MAX,
  }).error.message;
}

/** The whole body; empty if it is too long or breaks off. */
async function wholeBody(exchange: HttpExchange): Promise<string> {
  let text = '';
  while (text.length < LISTING_CHARS_MAX) {
    const chunk = await exchange.read();
    if (chunk === null) return text;
    if (typeof chunk !== 'string') break;
    text += chunk;
  }
  return '';
}

/** The ids of the models that can hold a conversation. */
function modelIds(entries: readonly { id: string }[]): string[] {
  return [...new Set(entries.map(({ id }) => id))]
    .filter((id) => !NO_CONVERSATION.test(id))
    .slice(0, MODELS_MAX);
}

/**
 * The models in `{data: [{id}]}`, null if the body has another form. A server without models may
 * send null as `data`.
 */
function listedModels(listing: unknown): (JsonObject & { id: string })[] | null {
  if (!isObject(listing) || listing.data === undefined) return null;
  const entries: unknown[] = Array.isArray(listing.data) ? listing.data : [];
  return entries.filter(
    (entry): entry is JsonObject & { id: string } =>
      isObject(entry) && typeof entry.id === 'string' && entry.id !== '',
  );
}
