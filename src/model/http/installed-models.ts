import type { Clock } from '../../base/clock.ts';
import { HttpClient } from '../../base/http/http-client.ts';
import type { Break, HttpExchange } from '../../base/http/http-exchange.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import { parseLongJson } from '../../base/parse-long-json.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { redact } from '../../secrets/redact.ts';
import { type Endpoint, type EndpointDeps, resolveEndpoint } from './endpoint.ts';
import { httpFailure, wholeFailure } from './http-failure.ts';
import { startAdvice } from './refusal-advice.ts';
import { unansweredFailure } from './unanswered-failure.ts';

/** How long a provider may take to list its models. */
export const LISTING_MS_MAX = 1_000;
const LISTING_CHARS_MAX = 1024 * 1024;
/** Gateways list hundreds of models, each with a long description. */
const WINDOWS_MS_MAX = 5_000;
const WINDOWS_CHARS_MAX = 16 * 1024 * 1024;
const MODELS_MAX = 200;
const SUCCESS = 200;
/** Models are listed too that cannot hold a conversation in text, such as those for embeddings, images and speech. */
const NO_CONVERSATION =
  /(?:^|[-_/:])(?:embed|whisper|tts|dall-e|image|imagen|sora|moderation|transcribe|realtime|rerank|guard)|text-(?:ada|babbage|curie|davinci)|^(?:babbage|davinci)-/i;

interface ListingDeps extends EndpointDeps {
  clock: Clock;
  log: Log;
}

/** The ids of the installed models; or, if the server did not list them, why: sentences without secrets. */
export type InstalledModels = string[] | { problem: string };

/** Asks a provider which models it has, and leaves out those that cannot hold a conversation. Never rejects. */
export async function installedModels(provider: ProviderConfig, deps: ListingDeps): Promise<InstalledModels> {
  const listing = await askListing(provider, deps, { msMax: LISTING_MS_MAX, charsMax: LISTING_CHARS_MAX });
  if ('problem' in listing) return { problem: listing.problem };
  const { endpoint, body } = listing;
  const ids = modelIds(parsedJson(body));
  if (ids !== null) return ids.map((id) => redact(id, endpoint.secrets));
  const told = wholeFailure(endpoint, { body, model: 'NAME' });
  return { problem: told?.error.message ?? `${endpoint.label} did not answer with a list of models. Check base_url of the provider.` };
}

/**
 * Asks a provider for its models, to see whether it can be reached and takes the key. Returns the problem as sentences without secrets, or
 * null. Never rejects, and takes five seconds at most.
 */
export async function providerProblem(provider: ProviderConfig, deps: ListingDeps): Promise<string | null> {
  const listing = await askListing(provider, deps, { msMax: WINDOWS_MS_MAX, charsMax: LISTING_CHARS_MAX });
  if (!('problem' in listing)) return null;
  const { problem, status } = listing;
  // A provider need not have a list.
  return status === null || REFUSED_KEY.has(status) || status >= SERVER_ERROR ? problem : null;
}

/** The statuses of a key that is missing or wrong. */
const REFUSED_KEY = new Set([401, 403]);
const SERVER_ERROR = 500;

/**
 * Asks a provider for the context windows of its models, in tokens, by their ids. Not every provider lists them. Null: it did not answer
 * with a list, and may do so later. Never rejects.
 */
export async function listedWindows(provider: ProviderConfig, deps: ListingDeps): Promise<ReadonlyMap<string, number> | null> {
  const listing = await askListing(provider, deps, { msMax: WINDOWS_MS_MAX, charsMax: WINDOWS_CHARS_MAX });
  const entries = 'problem' in listing ? null : listedModels(await parseLongJson(listing.body));
  if (entries === null) {
    const problem = 'problem' in listing ? listing.problem : 'The answer is not a list of models, or it is too long.';
    deps.log.info({ provider: provider.id, problem }, 'the context windows of models could not be asked for');
    return null;
  }
  return new Map(
    entries.flatMap((entry): [string, number][] => {
      const tokens = WINDOW_FIELDS.map((field) => entry[field]).find((value) => Number.isSafeInteger(value) && Number(value) > 0);
      return tokens === undefined ? [] : [[entry.id, Number(tokens)]];
    }),
  );
}

/** The fields in which providers list context windows. */
const WINDOW_FIELDS = ['context_length', 'max_model_len', 'context_window', 'max_context_length'] as const;

/** `status`: the HTTP status of an answer that is no success; null: there was no answer. */
type Listing = { endpoint: Endpoint; body: string } | { problem: string; status: number | null };

interface ListingLimits {
  msMax: number;
  charsMax: number;
}

async function askListing(provider: ProviderConfig, deps: ListingDeps, limits: ListingLimits): Promise<Listing> {
  const endpoint = resolveEndpoint(provider, 'models', deps);
  if ('message' in endpoint) return { problem: endpoint.message, status: null };
  const { url, proxy, headers } = endpoint;
  const tooLate = new AbortController();
  const timer = deps.clock.setTimer(() => tooLate.abort(), limits.msMax);
  const httpRequest = {
    method: 'GET' as const,
    url,
    proxy,
    headers: { ...headers, accept: 'application/json' },
    body: null,
    connectMsMax: limits.msMax,
    idleMsMax: limits.msMax,
  };
  const exchange = await new HttpClient(deps).ask(httpRequest, tooLate.signal);
  try {
    return await readListing(endpoint, exchange, { ...limits, now: deps.clock.now() });
  } finally {
    timer.clear();
    exchange.close();
  }
}

async function readListing(
  endpoint: Endpoint,
  exchange: HttpExchange,
  { now, ...limits }: ListingLimits & { now: number },
): Promise<Listing> {
  const head = await exchange.head();
  if ('broken' in head) return { problem: unansweredText(endpoint, head, limits), status: null };
  const body = await wholeBody(exchange, limits);
  if (head.status !== SUCCESS) {
    return { problem: httpFailure(endpoint, { ...head, body, model: 'NAME', now }).error.message, status: head.status };
  }
  return { endpoint, body };
}

function unansweredText(endpoint: Endpoint, why: Break, { msMax }: ListingLimits): string {
  if (why.broken === 'network') return unansweredFailure(endpoint, why, { connectMsMax: msMax, idleMsMax: msMax }).error.message;
  return `${endpoint.label} did not answer within ${msMax / 1_000} s. ${startAdvice(endpoint.localServer)}`;
}

/** The whole body; empty if it is too long or breaks off. */
async function wholeBody(exchange: HttpExchange, { charsMax }: ListingLimits): Promise<string> {
  let text = '';
  while (text.length < charsMax) {
    const chunk = await exchange.read();
    if (chunk === null) return text;
    if (typeof chunk !== 'string') break;
    text += chunk;
  }
  return '';
}

/** The ids of a listing, null if it has another form. */
function modelIds(listing: unknown): string[] | null {
  const entries = listedModels(listing);
  if (entries === null) return null;
  return [...new Set(entries.map(({ id }) => id))].filter((id) => !NO_CONVERSATION.test(id)).slice(0, MODELS_MAX);
}

/** The models in `{data: [{id}]}`, null if the body has another form. A server without models may send null as `data`. */
function listedModels(listing: unknown): (JsonObject & { id: string })[] | null {
  if (!isObject(listing) || listing.data === undefined) return null;
  const entries: unknown[] = Array.isArray(listing.data) ? listing.data : [];
  return entries.filter(
    (entry): entry is JsonObject & { id: string } => isObject(entry) && typeof entry.id === 'string' && entry.id !== '',
  );
}
