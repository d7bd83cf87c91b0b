import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  type ClientOptions,
  ProtocolError,
  type Transport,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import type { Remote } from '../../base/worker/remote.ts';
import { ChangeNotices } from '../messages/change-notices.ts';
import type {
  ConnectedServer,
  HostedServer,
  McpAnswer,
  McpHostUser,
  McpQuestion,
  McpRequest,
  Progress,
} from '../messages/mcp-host.ts';
import type { LoginWeb } from '../oauth/login-web.ts';
import { connectedServer, connectLimited } from './connect-limited.ts';
import { HttpTransport } from './http-transport.ts';
import { limitPages } from './limits/limit-pages.ts';
import { PipeTransport } from './pipe-transport.ts';
import { sendRequest } from './send-request.ts';
import { type HttpServer, ServerHttp } from './server-http.ts';
import { UrlElicitations } from './url-elicitations.ts';
import { UselessMessages } from './useless-messages.ts';

/** How long a server may take to hear that its session is over. */
const GOODBYE_MS_MAX = 1_000;
const PAGES_MAX = 200;
const MODERN_VERSION = '2026-07-28';
const METHOD_NOT_FOUND = -32601;

export interface HostedClientDeps {
  connection: number;
  server: HostedServer;
  clientVersion: string;
  /** How to reach servers by HTTP. */
  web: LoginWeb;
  main: Remote<McpHostUser>;
  /** Asks the main thread. `call`: the request in which the server asks; null: unknown. */
  ask(call: number | null, question: McpQuestion, signal: AbortSignal): Promise<McpAnswer>;
}

/** A connection to one MCP server, by the library's client. */
export class HostedClient {
  readonly #deps: HostedClientDeps;
  /**
   * The call that a question of the server belongs to, where the library tells: it asks in the
   * course of the request.
   */
  readonly #calls = new AsyncLocalStorage<{ call: number; signal: AbortSignal }>();
  #callsRunning = 0;
  readonly #closing = new AbortController();
  #client: Client | null = null;
  /** The last one, which may still be connecting. */
  #transport: Transport | null = null;
  #pipe: PipeTransport | null = null;
  readonly #noise: UselessMessages;
  readonly #visits = new UrlElicitations();
  #isClosed = false;

  constructor(deps: HostedClientDeps) {
    this.#deps = deps;
    const { connection, main } = deps;
    this.#noise = new UselessMessages((message) => main.tell('noticed', connection, message));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Aborts at the end of the connection: what waits for anybody ends then. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The signal of the call in whose course this is asked for. */
  get callSignal(): AbortSignal | undefined {
    return this.#calls.getStore()?.signal;
  }

  /** Rejects with the library's errors. */
  async connect(): Promise<ConnectedServer> {
    const client = await this.#connected();
    if (this.#isClosed) {
      await client.close();
      throw new Error('the connection is closed');
    }
    this.#client = client;
    client.onclose = () => this.#ended(null);
    return connectedServer(client);
  }

  async receive(bytes: Uint8Array): Promise<void> {
    await this.#pipe?.receive(bytes);
    this.#deps.main.tell('taken', this.#deps.connection, bytes.length);
  }

  /** Sends a request. Rejects with the library's errors. */
  async request(call: number, request: McpRequest, signal: AbortSignal): Promise<JsonValue> {
    const client = this.#client;
    if (client === null) throw new Error('the server is not connected');
    const onProgress = (progress: Progress) => this.#deps.main.tell('progress', call, progress);
    const send = () =>
      this.#visits.perform({
        send: () => sendRequest(client, request, { signal, onProgress }),
        accepts: (visit) => this.#isAccepted(visit, { call, signal }),
        signal: AbortSignal.any([signal, this.#closing.signal]),
      });
    this.#callsRunning++;
    try {
      return await this.#calls.run({ call, signal }, send);
    } finally {
      // Otherwise Node would keep the storage for ever, and each promise of the thread would take
      // time for it.
      if (--this.#callsRunning === 0) this.#calls.disable();
    }
  }

  /** Asks the user to visit an address. */
  async #isAccepted(
    visit: JsonObject,
    { call, signal }: { call: number; signal: AbortSignal },
  ): Promise<boolean> {
    const answer = await this.#deps.ask(call, { kind: 'elicitation', params: visit }, signal);
    return 'result' in answer && isObject(answer.result) && answer.result.action === 'accept';
  }

  async rootsChanged(): Promise<void> {
    await this.#client?.sendRootsListChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const [client, transport] = [this.#client, this.#transport];
    this.#client = null;
    if (client !== null) {
      client.onclose = () => {};
      if (transport instanceof HttpTransport) await this.#endSession(transport);
    }
    this.#closing.abort();
    await (client ?? transport)?.close();
  }

  /** Tells an HTTP server that its session is over. */
  async #endSession(transport: HttpTransport): Promise<void> {
    const inTime = new AbortController();
    const tooLate = sleep(GOODBYE_MS_MAX, undefined, { signal: inTime.signal, ref: false });
    await Promise.race([transport.terminateSession(), tooLate]).catch(() => {});
    tooLate.catch(() => {});
    inTime.abort();
  }

  #ended(reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.main.tell('closed', this.#deps.connection, reason);
  }

  #noticed(problem: string): void {
    if (!this.#noise.add(problem)) return;
    const hint =
      this.#pipe === null ? '' : ': a server on stdio must write nothing else to its stdout';
    this.#ended(`it sends too many lines that are not messages${hint}`);
    void this.#pipe?.close();
  }

  async #connected(): Promise<Client> {
    const { server } = this.#deps;
    if (server.type === 'http') return this.#connectedByHttp(server);
    try {
      return await this.#connectBy(this.#newPipe(), {});
    } catch (error) {
      // Few servers on stdio speak only the newer revision, and many older ones do not survive a
      // request before `initialize`.
      if (!(error instanceof ProtocolError) || error.code !== METHOD_NOT_FOUND) throw error;
      return this.#connectBy(this.#newPipe(), {
        versionNegotiation: { mode: { pin: MODERN_VERSION } },
      });
    }
  }

  async #connectBy(transport: Transport, options: ClientOptions): Promise<Client> {
    if (this.#isClosed) throw new Error('the connection is closed');
    this.#transport = transport;
    const client = this.#newClient(options);
    await connectLimited(client, transport);
    return client;
  }

  #newClient(options: ClientOptions): Client {
    const { connection, clientVersion, main } = this.#deps;
    const changes = new ChangeNotices((isLast) => main.tell('toolsChanged', connection, isLast));
    const client = new Client(
      { name: 'heddle', title: 'heddle', version: clientVersion },
      {
        ...options,
        capabilities: {
          elicitation: { form: { applyDefaults: true }, url: {} },
          sampling: {},
          roots: { listChanged: true },
        },
        // A server's schemas are not compiled: they may be hostile, and the model reads the result
        // as it is.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({
            valid: true,
            data: data as never,
            errorMessage: undefined,
          }),
        },
        listMaxPages: PAGES_MAX,
        inputRequired: { maxRounds: 50 },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changes.changed() },
        },
      },
    );
    limitPages(client);
    client.onerror = (error) => this.#noticed(error.message);
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      this.#visits.completed(params.elicitationId),
    );
    this.#answerQuestions(client);
    return client;
  }

  #newPipe(): PipeTransport {
    const { connection, main } = this.#deps;
    this.#pipe = new PipeTransport({
      write: (bytes) => main.tell('output', connection, bytes),
      onNoise: (line) => this.#noticed(`not a message: ${line}`),
      onEnded: (reason) => this.#ended(reason),
    });
    return this.#pipe;
  }

  /** If the server asks for a login, the user is sent to the authorization server. */
  async #connectedByHttp(server: HttpServer): Promise<Client> {
    const http = new ServerHttp(server, this.#deps, this);
    const login = typeof server.authentication === 'object' ? server.authentication : null;
    const user = login && http.userLogin(login);
    // The server has asked for more scopes.
    if (login !== null && login.neededScopes.length > 0) await user?.complete();
    const client = await this.#connectBy(http.transport(user), {
      versionNegotiation: { mode: 'auto' },
    });
    // Some servers ask nobody to log in before they are connected. The user wants to.
    await user?.complete();
    return client;
  }

  /**
   * Asks the main thread for what the connection itself needs. The question ends with the
   * connection.
   */
  async ask(question: McpQuestion): Promise<JsonValue> {
    if (this.#isClosed) throw new Error('the connection is closed');
    const answer = await this.#deps.ask(null, question, this.#closing.signal);
    if ('error' in answer) throw new Error(answer.error.message);
    return answer.result;
  }

  #answerQuestions(client: Client): void {
    const answer = async (question: McpQuestion, signal: AbortSignal): Promise<JsonObject> => {
      const answered = await this.#deps.ask(this.#calls.getStore()?.call ?? null, question, signal);
      if ('error' in answered) throw new ProtocolError(answered.error.code, answered.error.message);
      return answered.result as JsonObject;
    };
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const result = await answer(
        { kind: 'elicitation', params: params as unknown as JsonObject },
        mcpReq.signal,
      );
      return result as never;
    });
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      const result = await answer(
        { kind: 'sampling', params: params as unknown as JsonObject },
        mcpReq.signal,
      );
      return result as never;
    });
    client.setRequestHandler(
      'roots/list',
      async (_request, { mcpReq }) => (await answer({ kind: 'roots' }, mcpReq.signal)) as never,
    );
  }
}
