import type { Clock } from '../base/clock.ts';
import { isObject, parsedJson } from '../base/json.ts';
import type { ProviderConfig } from '../config/provider.ts';
import { resolveEndpoint } from './endpoint.ts';
import { HttpClient, type HttpExchange } from './http-exchange.ts';

/** How long a server on this machine may take to say what it has. */
export const LISTING_MS_MAX = 1_000;
const LISTING_CHARS_MAX = 1024 * 1024;
const MODELS_MAX = 200;
const SUCCESS = 200;
/** Models that make vectors of texts are listed too, and cannot hold a conversation. */
const EMBEDS = /(?:^|[-_/])embed/i;

interface ListingDeps {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  userAgent: string;
}

/** The ids of the models that a provider says it has, those for conversations; null: it did not say so in time. Never rejects. */
export async function installedModels(provider: ProviderConfig, deps: ListingDeps): Promise<string[] | null> {
  const endpoint = resolveEndpoint(provider, 'models', deps);
  if ('message' in endpoint) return null;
  const { url, headers } = endpoint;
  const tooLate = new AbortController();
  const timer = deps.clock.setTimer(() => tooLate.abort(), LISTING_MS_MAX);
  const question = {
    method: 'GET' as const,
    url,
    headers: { ...headers, accept: 'application/json' },
    body: Buffer.alloc(0),
    idleMsMax: LISTING_MS_MAX,
  };
  const exchange = await new HttpClient(deps.clock).ask(question, tooLate.signal);
  try {
    return modelIds(await body(exchange));
  } finally {
    timer.clear();
    exchange.close();
  }
}

async function body(exchange: HttpExchange): Promise<string> {
  const head = await exchange.head();
  if ('broken' in head || head.status !== SUCCESS) return '';
  let text = '';
  while (text.length < LISTING_CHARS_MAX) {
    const chunk = await exchange.read();
    if (chunk === null) return text;
    if (typeof chunk !== 'string') break;
    text += chunk;
  }
  return '';
}

/** Of `{data: [{id}]}`; a server that has none may say null in place of the list. */
function modelIds(text: string): string[] | null {
  const listing = parsedJson(text);
  if (!isObject(listing) || listing.data === undefined) return null;
  const entries: unknown[] = Array.isArray(listing.data) ? listing.data : [];
  const ids = entries.flatMap((entry) => (isObject(entry) && typeof entry.id === 'string' && entry.id !== '' ? [entry.id] : []));
  return [...new Set(ids)].filter((id) => !EMBEDS.test(id)).slice(0, MODELS_MAX);
}
