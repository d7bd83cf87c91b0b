import type { Env } from '../env.ts';
import { JsonText } from '../text/json-text.ts';
import { PartCounter } from '../text/part-counter.ts';
import { breakText } from './break-text.ts';
import type { HttpClient } from './http-client.ts';
import { type Break, type HttpExchange, NO_LIMIT_MS } from './http-exchange.ts';
import { proxyFor } from './proxy-for.ts';

export type Fetch = (address: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchDeps {
  client: HttpClient;
  env: Env;
}

export interface FetchOptions {
  /** The most bytes of a body; of a stream of events, the most bytes of one event. */
  bytesMax: number;
  /** The most objects, arrays and members of a body of JSON, or of an event. */
  partsMax: number;
  /** Sent with every request that does not set them itself. */
  headers: Readonly<Record<string, string>>;
}

type Limits = Omit<FetchOptions, 'headers'>;

const WITHOUT_BODY = [204, 205, 304];
const EVENT_ENDS = ['\n\n', '\n\r\n', '\r\r'];
const NEVER = new AbortController().signal;

/**
 * Returns a `fetch` that uses the proxies and certificates that the environment names. It has no
 * time limit, takes texts and forms as bodies, and passes redirects on instead of following them.
 * Rejects with a TypeError if there is no response, as fetch does.
 */
export function createFetch(
  { client, env }: FetchDeps,
  { headers, ...limits }: FetchOptions,
): Fetch {
  return async (address, { method = 'GET', headers: own, body, signal } = {}) => {
    const url = new URL(address);
    const proxy = proxyFor(url, env);
    if (proxy !== null && 'problem' in proxy) throw new TypeError(proxy.problem);
    const httpRequest = {
      method,
      url,
      proxy,
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...Object.fromEntries(new Headers(own)),
      },
      body:
        body == null ? null : new JsonText([Buffer.from(String(body as string | URLSearchParams))]),
      connectMsMax: NO_LIMIT_MS,
      idleMsMax: NO_LIMIT_MS,
    };
    const exchange = await client.ask(httpRequest, signal ?? NEVER);
    try {
      return await responseOf(
        exchange,
        (why) =>
          why.broken === 'aborted' ? signal?.reason : new TypeError(breakText(why, httpRequest)),
        limits,
      );
    } catch (error) {
      exchange.close();
      throw error;
    }
  };
}

async function responseOf(
  exchange: HttpExchange,
  failed: (why: Break) => unknown,
  limits: Limits,
): Promise<Response> {
  const head = await exchange.head();
  if ('broken' in head) throw failed(head);
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(head.headers))
    for (const value of [values].flat()) headers.append(name, value);
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw new TypeError(
      `the response is compressed (${encoding}), although heddle did not ask for that`,
    );
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const body = bodyOf(exchange, failed, new Weight(limits, isStream));
  if (!WITHOUT_BODY.includes(head.status))
    return new Response(body, { status: head.status, headers });
  await body.cancel();
  return new Response(null, { status: head.status, headers });
}

function bodyOf(
  exchange: HttpExchange,
  failed: (why: Break) => unknown,
  weight: Weight,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const text = await exchange.read();
      if (typeof text === 'string') {
        const bytes = encoder.encode(text);
        if (weight.add(text, bytes.length)) return controller.enqueue(bytes);
      }
      exchange.close();
      if (text === null) return controller.close();
      controller.error(typeof text === 'string' ? new TypeError(weight.problem) : failed(text));
    },
    cancel: () => exchange.close(),
  });
}

/** Counts the bytes and the parts of a body, or of the last event of a stream of events. */
class Weight {
  readonly #limits: Limits;
  readonly #isStream: boolean;
  #bytes = 0;
  #parts = 0;
  #counter = new PartCounter();
  #last = '';

  constructor(limits: Limits, isStream: boolean) {
    this.#limits = limits;
    this.#isStream = isStream;
  }

  /** Returns whether there may be so much. */
  add(text: string, bytes: number): boolean {
    const seen = this.#last + text;
    const end = this.#isStream ? Math.max(...EVENT_ENDS.map((each) => seen.lastIndexOf(each))) : -1;
    this.#last = text.slice(-2);
    const last = seen.slice(end);
    this.#bytes = end === -1 ? this.#bytes + bytes : Buffer.byteLength(last);
    if (end !== -1) this.#counter = new PartCounter();
    this.#parts = this.#counter.add(end === -1 ? text : last);
    return this.#bytes <= this.#limits.bytesMax && this.#parts <= this.#limits.partsMax;
  }

  get problem(): string {
    const { bytesMax, partsMax } = this.#limits;
    const what =
      this.#bytes > bytesMax
        ? `${bytesMax / 1024 / 1024} MiB`
        : `${partsMax} objects, arrays and members`;
    return `the server sent a message of more than ${what}`;
  }
}
