import { systemClock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { JsonValue } from '../../base/json-value.ts';
import { orAborted } from '../../base/or-aborted.ts';
import type { MainThread } from '../../base/worker/remote.ts';
import type {
  ConnectedServer,
  HostedServer,
  McpAnswer,
  McpHost,
  McpHostUser,
  McpQuestion,
  McpRequest,
  RefreshRequest,
} from '../messages/mcp-host.ts';
import { LoginWeb } from '../oauth/login-web.ts';
import { HostedClient } from './hosted-client.ts';
import { isOfServer, questionRefusal } from './limits/question-refusal.ts';
import { refreshTokens } from './refresh-tokens.ts';
import { AUTHORIZATION_LIMITS } from './server-http.ts';
import { toMcpError } from './to-mcp-error.ts';

/**
 * Speaks with MCP servers: connects, sends requests, and passes on what the servers ask. `env` has
 * proxies and certificates.
 */
export function createMcpHost(main: MainThread<McpHostUser>, env: Env): McpHost {
  return new Host(main, env);
}

interface Hosted {
  client: HostedClient;
  /** How many questions of the server are open. */
  asks: number;
}

class Host implements McpHost {
  readonly #main: MainThread<McpHostUser>;
  readonly #web: LoginWeb;
  readonly #hosted = new Map<number, Hosted>();

  constructor(main: MainThread<McpHostUser>, env: Env) {
    this.#main = main;
    this.#web = new LoginWeb({ clock: systemClock, env, log: main.log });
  }

  connect(
    connection: number,
    server: HostedServer,
    clientVersion: string,
  ): Promise<ConnectedServer> {
    const client = new HostedClient({
      connection,
      server,
      clientVersion,
      web: this.#web,
      main: this.#main,
      ask: (call, question, signal) => this.#ask(hosted, { connection, call, question }, signal),
    });
    const hosted: Hosted = { client, asks: 0 };
    this.#hosted.set(connection, hosted);
    return orMcpError(client.connect());
  }

  input(connection: number, bytes: Uint8Array): void {
    void this.#hosted.get(connection)?.client.receive(bytes);
  }

  async request(
    connection: number,
    call: number,
    request: McpRequest,
    cancelled: AbortSignal,
  ): Promise<JsonValue> {
    const client = this.#hosted.get(connection)?.client;
    if (client === undefined) throw toMcpError(new Error('the server is not connected'));
    return orMcpError(client.request(call, request, cancelled));
  }

  refresh(
    request: RefreshRequest,
    clientVersion: string,
    cancelled: AbortSignal,
  ): Promise<JsonValue> {
    const { url, client } = request;
    const options = {
      ...AUTHORIZATION_LIMITS,
      headers: { 'user-agent': `heddle/${clientVersion}` },
    };
    const send = this.#web.loginFetch({ url, reachesPrivate: client.reachesPrivate }, options);
    return orMcpError(
      refreshTokens(request, (address, init) => send(address, { ...init, signal: cancelled })),
    );
  }

  rootsChanged(connection: number): void {
    void this.#hosted
      .get(connection)
      ?.client.rootsChanged()
      .catch(() => {});
  }

  close(connection: number): void {
    const client = this.#hosted.get(connection)?.client;
    this.#hosted.delete(connection);
    client
      ?.close()
      .catch((error) =>
        this.#main.tell('noticed', connection, `closing failed: ${toMcpError(error).message}`),
      );
  }

  async #ask(
    hosted: Hosted,
    {
      connection,
      call,
      question,
    }: { connection: number; call: number | null; question: McpQuestion },
    signal: AbortSignal,
  ): Promise<McpAnswer> {
    const refused = questionRefusal(question, hosted.asks);
    if (refused !== null) return refused;
    const count = isOfServer(question) ? 1 : 0;
    hosted.asks += count;
    try {
      const answer = this.#main.call('ask', [connection, call, question], signal);
      return (await orAborted(answer, signal)) ?? WITHDRAWN;
    } finally {
      hosted.asks -= count;
    }
  }
}

const WITHDRAWN: McpAnswer = {
  error: { code: -32000, message: 'the question was withdrawn' },
};

async function orMcpError<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw toMcpError(error);
  }
}
