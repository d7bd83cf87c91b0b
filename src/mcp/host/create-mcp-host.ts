import { systemClock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { JsonValue } from '../../base/json-value.ts';
import type { FromHost, McpAnswer, McpQuestion, ToHost } from '../messages/to-host.ts';
import { LoginWeb } from '../oauth/login-web.ts';
import { HostedClient } from './hosted-client.ts';
import { isOfServer, questionRefusal } from './limits/question-refusal.ts';
import { refreshTokens } from './refresh-tokens.ts';
import { AUTHORIZATION_LIMITS } from './server-http.ts';
import { toProblem } from './to-problem.ts';

/** A question that the main thread has not answered yet. */
interface OpenAsk {
  connection: number;
  question: McpQuestion;
  answer(answer: McpAnswer): void;
}

type Post = (message: FromHost) => void;

/** Takes the messages of the main thread. */
export interface McpHost {
  receive(message: ToHost): void;
}

/**
 * Speaks with MCP servers: connects, sends requests, and passes on what the servers ask. `env` has
 * proxies and certificates.
 */
export function createMcpHost(post: Post, env: Env): McpHost {
  return new Host(post, env);
}

class Host implements McpHost {
  readonly #post: Post;
  readonly #web: LoginWeb;
  readonly #clients = new Map<number, HostedClient>();
  readonly #calls = new Map<number, AbortController>();
  readonly #asks = new Map<number, OpenAsk>();
  #askCount = 0;

  constructor(post: Post, env: Env) {
    this.#post = post;
    const log = { warn: (fields: object, text: string) => post({ type: 'warned', fields, text }) };
    this.#web = new LoginWeb({ clock: systemClock, env, log });
  }

  receive(message: ToHost): void {
    if (message.type === 'connect') this.#connect(message);
    else if (message.type === 'request')
      void this.#answered(message.call, (signal) => this.#request(message, signal));
    else if (message.type === 'refresh')
      void this.#answered(message.call, (signal) => this.#refresh(message, signal));
    else if (message.type === 'cancel') this.#calls.get(message.call)?.abort();
    else if (message.type === 'answer') this.#asks.get(message.ask)?.answer(message.answer);
    else this.#pass(message);
  }

  #pass(message: Extract<ToHost, { type: 'input' | 'rootsChanged' | 'close' }>): void {
    const client = this.#clients.get(message.connection);
    if (message.type === 'input') void client?.receive(message.bytes);
    else if (message.type === 'rootsChanged') void client?.rootsChanged().catch(() => {});
    else void this.#close(message.connection);
  }

  #connect({ connection, server, clientVersion }: Extract<ToHost, { type: 'connect' }>): void {
    const client = new HostedClient({
      connection,
      server,
      clientVersion,
      web: this.#web,
      post: this.#post,
      ask: (call, question, signal) => this.#ask({ connection, call, question }, signal),
    });
    this.#clients.set(connection, client);
    void client.connect();
  }

  #ask(
    asked: { connection: number; call: number | null; question: McpQuestion },
    signal: AbortSignal,
  ): Promise<McpAnswer> {
    const open = [...this.#asks.values()].filter(
      ({ connection, question }) => connection === asked.connection && isOfServer(question),
    );
    const refused = questionRefusal(asked.question, open.length);
    if (refused !== null) return Promise.resolve(refused);
    const ask = ++this.#askCount;
    return new Promise((resolve) => {
      const withdraw = () => {
        if (!this.#asks.delete(ask)) return;
        this.#post({ type: 'withdrawn', ask });
        resolve({ error: { code: -32000, message: 'the question was withdrawn' } });
      };
      const answer = (given: McpAnswer) => {
        this.#asks.delete(ask);
        signal.removeEventListener('abort', withdraw);
        resolve(given);
      };
      this.#asks.set(ask, { connection: asked.connection, question: asked.question, answer });
      signal.addEventListener('abort', withdraw);
      this.#post({ type: 'ask', ask, ...asked });
    });
  }

  async #request(
    { connection, call, request }: Extract<ToHost, { type: 'request' }>,
    signal: AbortSignal,
  ): Promise<JsonValue> {
    const client = this.#clients.get(connection);
    if (client === undefined) throw new Error('the server is not connected');
    return client.request(call, request, signal);
  }

  #refresh(
    { request, clientVersion }: Extract<ToHost, { type: 'refresh' }>,
    signal: AbortSignal,
  ): Promise<JsonValue> {
    const { url, client } = request;
    const options = {
      ...AUTHORIZATION_LIMITS,
      headers: { 'user-agent': `heddle/${clientVersion}` },
    };
    const send = this.#web.loginFetch({ url, reachesPrivate: client.reachesPrivate }, options);
    return refreshTokens(request, (address, init) => send(address, { ...init, signal }));
  }

  async #answered(
    call: number,
    request: (signal: AbortSignal) => Promise<JsonValue>,
  ): Promise<void> {
    const cancel = new AbortController();
    this.#calls.set(call, cancel);
    try {
      this.#post({ type: 'result', call, result: await request(cancel.signal) });
    } catch (error) {
      this.#post({ type: 'failure', call, problem: toProblem(error) });
    } finally {
      this.#calls.delete(call);
    }
  }

  async #close(connection: number): Promise<void> {
    const client = this.#clients.get(connection);
    this.#clients.delete(connection);
    try {
      await client?.close();
    } catch (error) {
      this.#post({
        type: 'noticed',
        connection,
        message: `closing failed: ${toProblem(error).message}`,
      });
    }
  }
}
