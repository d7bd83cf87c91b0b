import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { createHostPort, type HostPortOptions } from './create-host-port.ts';
import type { ConnectionEvents, HostConnection, McpRequestOptions } from './host-connection.ts';
import { McpError } from './messages/mcp-error.ts';
import type {
  ConnectedServer,
  FromHost,
  HostedServer,
  HostPort,
  McpAnswer,
  McpProblem,
  McpRequest,
  Progress,
  RefreshRequest,
  ToHost,
} from './messages/to-host.ts';

interface OpenConnection {
  events: ConnectionEvents;
  connected(server: ConnectedServer): void;
  refused(error: McpError): void;
  calls: Set<number>;
}

interface OpenCall {
  /** Null: it belongs to none. */
  connection: number | null;
  resolve(result: JsonValue): void;
  reject(error: McpError): void;
  onProgress?: ((progress: Progress) => void) | undefined;
}

interface McpHostClientOptions extends HostPortOptions {
  /** The server's own version. */
  version: string;
  log: Log;
}

/**
 * The connections that the host holds. The host starts at the first, and anew after it has died.
 */
export class McpHostClient {
  readonly #options: McpHostClientOptions;
  readonly #connections = new Map<number, OpenConnection>();
  readonly #calls = new Map<number, OpenCall>();
  /** The questions that are open, by their numbers. */
  readonly #asks = new Map<number, { connection: number; withdrawn: AbortController }>();
  #port: HostPort | null = null;
  #isClosed = false;
  #count = 0;

  constructor(options: McpHostClientOptions) {
    this.#options = options;
  }

  open(server: HostedServer, events: ConnectionEvents): HostConnection {
    const connection = ++this.#count;
    const port = this.#started();
    const connected = new Promise<ConnectedServer>((resolve, reject) => {
      this.#connections.set(connection, {
        events,
        connected: resolve,
        refused: reject,
        calls: new Set(),
      });
    });
    connected.catch(() => {});
    port.post({ type: 'connect', connection, server, clientVersion: this.#options.version });
    return {
      connected,
      input: (bytes) => this.#post({ type: 'input', connection, bytes }),
      request: (request, options) => this.#request(connection, request, options),
      rootsChanged: () => this.#post({ type: 'rootsChanged', connection }),
      close: (why) => {
        this.#end(connection, why);
        this.#post({ type: 'close', connection });
      },
    };
  }

  /** Gets other tokens from an authorization server. Rejects with an McpError. */
  async refreshTokens(request: RefreshRequest, signal: AbortSignal): Promise<JsonObject> {
    this.#started();
    const clientVersion = this.#options.version;
    const sent = this.#send(null, (call) => ({ type: 'refresh', call, request, clientVersion }), {
      signal,
    });
    return (await sent) as JsonObject;
  }

  /** Ends the host with all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const why = new McpError('closed', 'the server is being shut down');
    for (const connection of [...this.#connections.keys()]) this.#end(connection, why);
    this.#endRest(why);
    await this.#port?.close();
    this.#port = null;
  }

  #started(): HostPort {
    if (this.#isClosed) throw new McpError('unavailable', 'the server is being shut down');
    this.#port ??= createHostPort(this.#options, {
      onMessage: (message) => this.#receive(message),
      onDied: (reason) => this.#died(reason),
    });
    return this.#port;
  }

  #post(message: ToHost): void {
    this.#port?.post(message);
  }

  #request(
    connection: number,
    request: McpRequest,
    options: McpRequestOptions,
  ): Promise<JsonValue> {
    const open = this.#connections.get(connection);
    if (open === undefined) return Promise.reject(new McpError('closed', 'the server has ended'));
    return this.#send(
      connection,
      (call) => ({ type: 'request', connection, call, request }),
      options,
    );
  }

  #send(
    connection: number | null,
    message: (call: number) => ToHost,
    { signal, begun, onProgress }: McpRequestOptions,
  ): Promise<JsonValue> {
    const call = ++this.#count;
    return new Promise<JsonValue>((resolve, reject) => {
      const cancel = () => {
        this.#post({ type: 'cancel', call });
        this.#settle(call)?.reject(new McpError('cancelled', 'the request was cancelled'));
      };
      const done = () => signal.removeEventListener('abort', cancel);
      if (this.#calls.size === 0) this.#port?.keepAlive(true);
      this.#calls.set(call, {
        connection,
        onProgress,
        resolve: (result) => {
          done();
          resolve(result);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.#callsOf(connection)?.add(call);
      begun?.(call);
      signal.addEventListener('abort', cancel);
      if (signal.aborted) cancel();
      else this.#post(message(call));
    });
  }

  #callsOf(connection: number | null): Set<number> | undefined {
    return connection === null ? undefined : this.#connections.get(connection)?.calls;
  }

  #settle(call: number): OpenCall | null {
    const open = this.#calls.get(call) ?? null;
    this.#calls.delete(call);
    if (open !== null) this.#callsOf(open.connection)?.delete(call);
    if (this.#calls.size === 0) this.#port?.keepAlive(false);
    return open;
  }

  #receive(message: FromHost): void {
    if ('connection' in message) this.#receiveOf(message);
    else if (message.type === 'progress')
      this.#calls.get(message.call)?.onProgress?.(message.progress);
    else if (message.type === 'result') this.#settle(message.call)?.resolve(message.result);
    else if (message.type === 'failure')
      this.#settle(message.call)?.reject(errorOf(message.problem));
    else if (message.type === 'warned') this.#options.log.warn(message.fields, message.text);
    else this.#asks.get(message.ask)?.withdrawn.abort();
  }

  #receiveOf(message: Extract<FromHost, { connection: number }>): void {
    const { connection } = message;
    const open = this.#connections.get(connection);
    if (message.type === 'connected') open?.connected(message.server);
    else if (message.type === 'refused') this.#end(connection, errorOf(message.problem));
    else if (message.type === 'output') open?.events.onOutput(message.bytes);
    else if (message.type === 'taken') open?.events.onTaken(message.bytes);
    else if (message.type === 'ask') void this.#answer(message);
    else if (message.type === 'toolsChanged') open?.events.onToolsChanged(message.isLast);
    else if (message.type === 'closed') this.#closed(connection, message.reason);
    else
      this.#options.log.debug(
        { connection, message: message.message },
        'an MCP connection noticed a problem',
      );
  }

  async #answer({
    ask,
    connection,
    call,
    question,
  }: Extract<FromHost, { type: 'ask' }>): Promise<void> {
    const withdrawn = new AbortController();
    this.#asks.set(ask, { connection, withdrawn });
    try {
      const events = this.#connections.get(connection)?.events;
      const answer = await events?.onQuestion(call, question, withdrawn.signal);
      this.#post({ type: 'answer', ask, answer: answer ?? NOBODY });
    } catch (error) {
      this.#options.log.error(
        { err: error, kind: question.kind },
        'a question of an MCP server could not be answered',
      );
      this.#post({
        type: 'answer',
        ask,
        answer: { error: { code: -32603, message: 'the question could not be answered' } },
      });
    } finally {
      this.#asks.delete(ask);
    }
  }

  #closed(connection: number, reason: string | null): void {
    const events = this.#connections.get(connection)?.events;
    this.#end(connection, new McpError('closed', reason ?? 'the server has ended'));
    events?.onClosed(reason);
  }

  /** Rejects everything that waits for the connection, and forgets it. */
  #end(connection: number, error: McpError): void {
    const open = this.#connections.get(connection);
    if (open === undefined) return;
    this.#connections.delete(connection);
    open.refused(error);
    for (const call of [...open.calls]) this.#settle(call)?.reject(error);
    for (const asked of this.#asks.values())
      if (asked.connection === connection) asked.withdrawn.abort();
  }

  /** Rejects the calls that belong to no connection. */
  #endRest(error: McpError): void {
    for (const [call, { connection }] of [...this.#calls])
      if (connection === null) this.#settle(call)?.reject(error);
  }

  #died(reason: unknown): void {
    this.#options.log.error({ err: reason }, 'the thread that speaks with MCP servers has died');
    this.#port = null;
    this.#endRest(new McpError('closed', 'the request to the authorization server was lost'));
    const connections = [...this.#connections];
    for (const [connection, { events }] of connections) {
      this.#end(connection, new McpError('closed', 'the connections to all MCP servers were lost'));
      events.onClosed('the connections to all MCP servers were lost');
    }
  }
}

const NOBODY: McpAnswer = { error: { code: -32603, message: 'nobody can answer' } };

function errorOf({ kind, message, code, scopes }: McpProblem): McpError {
  return new McpError(kind, message, { code, scopes: scopes ?? null });
}
