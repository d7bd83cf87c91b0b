import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../../src/base/log.ts';
import type { ProviderConfig } from '../../src/config/providers/provider-config.ts';
import { chatApi } from '../../src/model/chat/chat-api.ts';
import {
  createProviderModel,
  type ProviderModelDeps,
} from '../../src/model/http/create-provider-model.ts';
import type { ModelEvent, ModelRequest } from '../../src/model/model.ts';
import { responsesApi } from '../../src/model/responses/responses-api.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** `body`: what the request's JSON is; null: it has none. */
export type Reply = (res: ServerResponse, req: IncomingMessage, body?: unknown) => unknown;

/** A provider on loopback that gives the replies in order; the last one again and again. */
export class ProviderServer {
  readonly requests: { url: string; headers: IncomingMessage['headers']; body: unknown }[] = [];
  readonly #replies: Reply[];
  readonly #server: Server;
  readonly #connections = new Set<unknown>();

  private constructor(replies: Reply[]) {
    this.#replies = replies;
    this.#server = createServer((req, res) => {
      res.on('error', () => {});
      this.#connections.add(req.socket);
      const chunks: Buffer[] = [];
      req.on('error', () => {});
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body: unknown = text === '' ? null : JSON.parse(text);
        this.requests.push({ url: req.url ?? '', headers: req.headers, body });
        const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0];
        reply?.(res, req, body);
      });
    });
  }

  static async start(...replies: Reply[]): Promise<ProviderServer> {
    const provider = new ProviderServer(replies);
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections brought a request. */
  get connectionsUsed(): number {
    return this.#connections.size;
  }

  openConnections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Wire text of an event. */
export function sse(event: object): string {
  return `event: ${'type' in event ? event.type : ''}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A reply that streams these events, or texts as they are, and ends. */
export function streaming(...parts: (object | string)[]): Reply {
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(parts.map((part) => (typeof part === 'string' ? part : sse(part))).join(''));
  };
}

/** A reply that is no stream. */
export function refusing(
  status: number,
  body: object | string = '',
  headers: Record<string, string> = {},
): Reply {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export const created = { type: 'response.created', response: { id: 'resp_1' } };
export const completed = { type: 'response.completed', response: { id: 'resp_1', usage: null } };

function messageItem(text: string, id = 'msg_1') {
  return {
    type: 'message',
    id,
    role: 'assistant',
    content: text === '' ? [] : [{ type: 'output_text', text }],
  };
}

/** The events of one message, in one delta. */
export function message(text: string, id = 'msg_1'): object[] {
  return [
    { type: 'response.output_item.added', output_index: 0, item: messageItem('', id) },
    { type: 'response.output_text.delta', item_id: id, output_index: 0, delta: text },
    { type: 'response.output_item.done', output_index: 0, item: messageItem(text, id) },
  ];
}

export const answered = streaming(created, ...message('ok'), completed);

/** The text of `answered`. */
export const answeredEvents: ModelEvent[] = [
  { type: 'started' },
  { type: 'itemStarted', item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] } },
  { type: 'textDelta', itemId: 'msg_1', delta: 'ok' },
  {
    type: 'itemCompleted',
    item: {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'ok' }],
    },
  },
  { type: 'completed', usage: null, responseId: 'resp_1' },
];

export const request: ModelRequest = {
  model: 'm',
  instructions: 'be brief',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  tools: [],
  effort: null,
  summary: null,
  outputSchema: null,
  serviceTier: null,
  verbosity: null,
  promptCacheKey: 'thread-1',
};

export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const IDLE_MS = 5_000;

/** A provider's configuration without retries. */
export function providerAt(port: number, changes: Partial<ProviderConfig> = {}): ProviderConfig {
  return {
    id: 'p',
    name: 'P',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    envKey: null,
    usesLogin: false,
    wireApi: 'responses',
    localServer: null,
    script: null,
    httpHeaders: {},
    queryParams: {},
    requestMaxRetries: 0,
    streamMaxRetries: 0,
    connectTimeoutMs: 10_000,
    streamIdleTimeoutMs: IDLE_MS,
    ...changes,
  };
}

/** A model of this provider and the clock that it goes by. */
export function modelAt(
  port: number,
  changes: Partial<ProviderConfig> = {},
  deps: Partial<ProviderModelDeps> = {},
) {
  const clock = new FakeClock();
  const provider = providerAt(port, changes);
  const api = provider.wireApi === 'chat' ? chatApi : responsesApi;
  const model = createProviderModel(api, provider, {
    env: {},
    clock,
    userAgent: 'test/1',
    log: quietLog,
    ...deps,
  });
  return { model, clock };
}

export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export const never = new AbortController().signal;

/** Begins an answer with half of a message, and leaves it open. */
export const halfAnswer: Reply = (res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write([created, ...message('half an answer').slice(0, 2)].map(sse).join(''));
};

/** Answers with a JSON value. */
export function answersJson(value: object, contentType = 'application/json'): Reply {
  return (res) => res.writeHead(200, { 'content-type': contentType }).end(JSON.stringify(value));
}

/** A reply that begins and goes no further, and a promise that resolves when it was asked for. */
export function hangingReply(): { reply: Reply; asked: Promise<void> } {
  let onAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const reply: Reply = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(sse(created));
    onAsked();
  };
  return { reply, asked };
}
