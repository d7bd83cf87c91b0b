import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AuthProvider,
  auth,
  Client,
  type ClientOptions,
  ProtocolError,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { jsonWeight } from '../../base/json-pieces.ts';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import type {
  ConnectedServer,
  FromHost,
  HostedServer,
  LoginRequest,
  McpAnswer,
  McpQuestion,
  McpRequest,
  StoredCredentials,
} from '../to-host.ts';
import { type CredentialsAccess, finishLogin, LoginProvider } from './login-provider.ts';
import { Noise } from './noise.ts';
import { PipeTransport } from './pipe-transport.ts';
import { requiredVisits } from './required-visits.ts';
import { NO_TIMEOUT_MS, type Progress, sendRequest } from './send-request.ts';
import { StoredTokens } from './stored-tokens.ts';
import { toProblem } from './to-problem.ts';

type HttpServer = Extract<HostedServer, { type: 'http' }>;

/** How often a user is sent to an authorization server in one login. */
const LOGINS_MAX = 2;
const PAGES_MAX = 200;
/** The longest description that a server gives of itself: its capabilities, its instructions and `serverInfo`. */
const DESCRIPTION_CHARS_MAX = 1024 * 1024;
const TOO_TALKATIVE = `the server's description of itself is longer than ${DESCRIPTION_CHARS_MAX} characters`;
/** Changes of the tools that come together are one. */
const CHANGES_MS = 50;
const MODERN_VERSION = '2026-07-28';
const METHOD_NOT_FOUND = -32601;
const RETRY = { initialReconnectionDelay: 1000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 1.5, maxRetries: 5 };

export interface HostedClientDeps {
  connection: number;
  server: HostedServer;
  clientVersion: string;
  post(message: FromHost): void;
  /** Asks the main thread. `call`: the request in which the server asks; null: unknown. */
  ask(call: number | null, question: McpQuestion, signal: AbortSignal): Promise<McpAnswer>;
}

/** A connection to one MCP server, by the library's client. */
export class HostedClient {
  readonly #deps: HostedClientDeps;
  /** The call that a question of the server belongs to, where the library tells: it asks in the course of the request. */
  readonly #calls = new AsyncLocalStorage<number>();
  #client: Client | null = null;
  #pipe: PipeTransport | null = null;
  readonly #noise: Noise;
  #isClosed = false;

  constructor(deps: HostedClientDeps) {
    this.#deps = deps;
    const { connection, post } = deps;
    this.#noise = new Noise((message) => post({ type: 'noticed', connection, message }));
  }

  async connect(): Promise<void> {
    const { connection, post } = this.#deps;
    try {
      const client = await this.#connected();
      if (this.#isClosed) {
        await client.close();
        return;
      }
      this.#client = client;
      client.onclose = () => this.#ended(null);
      const server = describe(client);
      if (jsonWeight(server, DESCRIPTION_CHARS_MAX) > DESCRIPTION_CHARS_MAX) throw new Error(TOO_TALKATIVE);
      post({ type: 'connected', connection, server });
    } catch (error) {
      post({ type: 'refused', connection, problem: toProblem(error) });
    }
  }

  async receive(bytes: Uint8Array): Promise<void> {
    await this.#pipe?.receive(bytes);
    this.#deps.post({ type: 'taken', connection: this.#deps.connection, bytes: bytes.length });
  }

  inputEnded(): void {
    void this.#pipe?.close();
  }

  /** Sends a request. Rejects with the library's errors. */
  async request(call: number, request: McpRequest, signal: AbortSignal): Promise<JsonValue> {
    const client = this.#client;
    if (client === null) throw new Error('the server is not connected');
    const onProgress = (progress: Progress) => this.#deps.post({ type: 'progress', call, progress });
    const send = () => sendRequest(client, request, { signal, onProgress });
    return this.#calls.run(call, async () => {
      try {
        return await send();
      } catch (error) {
        const visits = requiredVisits(error);
        if (visits.length === 0 || !(await this.#areAccepted(visits, { call, signal }))) throw error;
        return send();
      }
    });
  }

  /** Asks the user to visit these addresses, one after another. */
  async #areAccepted(visits: readonly JsonObject[], { call, signal }: { call: number; signal: AbortSignal }): Promise<boolean> {
    for (const params of visits) {
      const answer = await this.#deps.ask(call, { kind: 'elicitation', params }, signal);
      if (!('result' in answer) || !isObject(answer.result) || answer.result.action !== 'accept') return false;
    }
    return true;
  }

  async rootsChanged(): Promise<void> {
    await this.#client?.sendRootsListChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = null;
    if (client === null) {
      await this.#pipe?.close();
      return;
    }
    client.onclose = () => {};
    // Tells an HTTP server that its session is over.
    if (client.transport instanceof StreamableHTTPClientTransport) await client.transport.terminateSession().catch(() => {});
    await client.close();
  }

  #ended(reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.post({ type: 'closed', connection: this.#deps.connection, reason });
  }

  #noticed(problem: string): void {
    if (!this.#noise.add(problem)) return;
    this.#ended('it sends more than can be read that is not a message: a server on stdio must write nothing else to its stdout');
    void this.#pipe?.close();
  }

  async #connected(): Promise<Client> {
    const { server } = this.#deps;
    if (server.type === 'http' && typeof server.authentication === 'object') return this.#loggedIn(server, server.authentication);
    if (server.type === 'http') {
      const client = this.#newClient({ versionNegotiation: { mode: 'auto' } });
      await client.connect(this.#httpTransport(server), { timeout: NO_TIMEOUT_MS });
      return client;
    }
    const first = this.#newClient({});
    try {
      await first.connect(this.#newPipe(), { timeout: NO_TIMEOUT_MS });
      return first;
    } catch (error) {
      // Few servers on stdio speak only the newer revision, and many older ones do not survive a request before `initialize`.
      if (!(error instanceof ProtocolError) || error.code !== METHOD_NOT_FOUND) throw error;
      const second = this.#newClient({ versionNegotiation: { mode: { pin: MODERN_VERSION } } });
      await second.connect(this.#newPipe(), { timeout: NO_TIMEOUT_MS });
      return second;
    }
  }

  #newClient(options: ClientOptions): Client {
    const { connection, clientVersion, post } = this.#deps;
    const client = new Client(
      { name: 'heddle', title: 'heddle', version: clientVersion },
      {
        ...options,
        capabilities: { elicitation: { form: { applyDefaults: true }, url: {} }, sampling: {}, roots: { listChanged: true } },
        // A server's schemas are not compiled: they may be hostile, and the model reads the result as it is.
        jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
        listMaxPages: PAGES_MAX,
        inputRequired: { maxRounds: 50 },
        listChanged: { tools: { autoRefresh: false, debounceMs: CHANGES_MS, onChanged: () => post({ type: 'toolsChanged', connection }) } },
      },
    );
    client.onerror = (error) => this.#noticed(error.message);
    this.#answerQuestions(client);
    return client;
  }

  #newPipe(): PipeTransport {
    const { connection, post } = this.#deps;
    this.#pipe = new PipeTransport({
      write: (bytes) => post({ type: 'output', connection, bytes }),
      onNoise: (line) => this.#noticed(`not a message: ${line}`),
      onEnded: (reason) => this.#ended(reason),
    });
    return this.#pipe;
  }

  /** Connects with a login of the user, who is sent to the authorization server if the server asks for a login. */
  async #loggedIn(server: HttpServer, login: LoginRequest): Promise<Client> {
    const provider = new LoginProvider(login, this.#credentials());
    const url = new URL(server.url);
    const wanted = await this.#wantedScopes(login);
    const logIn = async () => {
      await auth(provider, { serverUrl: url, forceReauthorization: true, ...(wanted === '' ? {} : { scope: wanted }) });
      await provider.finish((query) => finishLogin(provider, url, query));
    };
    let isLoggedIn = login.neededScopes.length > 0;
    if (isLoggedIn) await logIn();
    for (let attempt = 0; ; attempt++) {
      const requestInit = { headers: { ...server.headers } };
      const transport = new StreamableHTTPClientTransport(url, { requestInit, authProvider: provider, onInsufficientScope: 'throw' });
      const client = this.#newClient({ versionNegotiation: { mode: 'auto' } });
      try {
        await client.connect(transport, { timeout: NO_TIMEOUT_MS });
        // This server asks nobody to log in before it is connected. The user wants to.
        if (!isLoggedIn) await logIn();
        return client;
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || attempt >= LOGINS_MAX) throw error;
        await provider.finish((query) => transport.finishAuth(new URLSearchParams(query)));
        isLoggedIn = true;
      }
    }
  }

  /** Scopes that the server has asked for since come on top of those of the last login. Empty: the server decides. */
  async #wantedScopes({ scopes, neededScopes }: LoginRequest): Promise<string> {
    if (neededScopes.length === 0) return (scopes ?? []).join(' ');
    const { tokens } = await this.#credentials().read();
    const granted = typeof tokens?.scope === 'string' ? tokens.scope.split(' ') : [];
    return [...new Set([...granted, ...(scopes ?? []), ...neededScopes])].join(' ');
  }

  #credentials(): CredentialsAccess {
    const never = new AbortController().signal;
    const ask = async (question: McpQuestion) => {
      const answer = await this.#deps.ask(null, question, never);
      if ('error' in answer) throw new Error(answer.error.message);
      return answer.result;
    };
    return {
      read: async () => (await ask({ kind: 'credentials' })) as unknown as StoredCredentials,
      store: async (change) => void (await ask({ kind: 'storeCredentials', change })),
      authorize: async (address) => String(await ask({ kind: 'authorize', url: address })),
    };
  }

  #httpTransport({ url, headers, authentication }: HttpServer): Transport {
    return new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      reconnectionOptions: RETRY,
      ...(authentication === 'token' ? { authProvider: this.#tokens() } : {}),
      ...(authentication === 'oauth' ? { authProvider: new StoredTokens(new URL(url), this.#credentials()) } : {}),
      onInsufficientScope: 'throw',
    });
  }

  /** Bearer tokens come from the main thread, which also knows how to get another one. */
  #tokens(): AuthProvider {
    const ask = async (refused: boolean) => {
      const answer = await this.#deps.ask(null, { kind: 'token', refused }, new AbortController().signal);
      return 'result' in answer && typeof answer.result === 'string' ? answer.result : undefined;
    };
    return {
      token: () => ask(false),
      onUnauthorized: async () => void (await ask(true)),
    };
  }

  #answerQuestions(client: Client): void {
    const answer = async (question: McpQuestion, signal: AbortSignal): Promise<JsonObject> => {
      const answered = await this.#deps.ask(this.#calls.getStore() ?? null, question, signal);
      if ('error' in answered) throw new ProtocolError(answered.error.code, answered.error.message);
      return answered.result as JsonObject;
    };
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const result = await answer({ kind: 'elicitation', params: params as unknown as JsonObject }, mcpReq.signal);
      return result as never;
    });
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      const result = await answer({ kind: 'sampling', params: params as unknown as JsonObject }, mcpReq.signal);
      return result as never;
    });
    client.setRequestHandler('roots/list', async (_request, { mcpReq }) => (await answer({ kind: 'roots' }, mcpReq.signal)) as never);
  }
}

function describe(client: Client): ConnectedServer {
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    info: (client.getServerVersion() ?? null) as JsonObject | null,
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    instructions: client.getInstructions() ?? null,
  };
}
