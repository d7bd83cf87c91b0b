import type { Env } from '../base/env.ts';
import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/or-aborted.ts';
import { PeerEnded } from '../base/worker/peer.ts';
import { localRemote, type Remote } from '../base/worker/remote.ts';
import { RemoteWorker } from '../base/worker/remote-worker.ts';
import type { ConnectionEvents, HostConnection, McpRequestOptions } from './host-connection.ts';
import { MCP_ERRORS, McpError } from './messages/mcp-error.ts';
import type {
  HostedServer,
  McpAnswer,
  McpHost,
  McpHostUser,
  McpQuestion,
  McpRequest,
  Progress,
  RefreshRequest,
} from './messages/mcp-host.ts';

/** A host that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 1024;
const CALLED = 'the worker that speaks with MCP servers';

interface OpenConnection {
  events: ConnectionEvents;
  /** Aborts when the connection ends, with the McpError for all that waits for it. */
  ended: AbortController;
}

interface McpHostClientOptions {
  /** The script that loads workers. Null: the host runs in this thread. */
  script: string | null;
  /** Has the proxies and certificates for servers that are reached by HTTP. */
  env: Env;
  /** The server's own version. */
  version: string;
  log: Log;
}

/**
 * The connections that the host holds. The host starts at the first, and anew after it has died.
 */
export class McpHostClient implements McpHostUser {
  readonly #options: McpHostClientOptions;
  readonly #connections = new Map<number, OpenConnection>();
  readonly #progress = new Map<number, (progress: Progress) => void>();
  readonly #closing = new AbortController();
  readonly #worker: RemoteWorker<McpHost, McpHostUser> | null;
  #local: Remote<McpHost> | null = null;
  #count = 0;

  constructor(options: McpHostClientOptions) {
    this.#options = options;
    const { script, env, log } = options;
    this.#worker =
      script === null
        ? null
        : new RemoteWorker<McpHost, McpHostUser>({
            script,
            name: 'mcp.worker',
            called: CALLED,
            heapMbMax: HEAP_MB_MAX,
            data: () => ({ ...env }),
            knownErrors: MCP_ERRORS,
            log,
            served: this,
            onDied: (reason) => this.#died(reason),
          });
  }

  open(server: HostedServer, events: ConnectionEvents): HostConnection {
    const host = this.#host();
    const connection = ++this.#count;
    const open = { events, ended: new AbortController() };
    this.#connections.set(connection, open);
    const connected = unlessEnded(
      host.call('connect', [connection, server, this.#options.version]),
      open.ended.signal,
    );
    connected.catch((error: McpError) => this.#end(connection, error));
    return {
      connected,
      input: (bytes) => host.tell('input', connection, bytes),
      request: (request, options) => this.#request(host, connection, { request, options }),
      rootsChanged: () => host.tell('rootsChanged', connection),
      close: (why) => {
        this.#end(connection, why);
        host.tell('close', connection);
      },
    };
  }

  /** Gets other tokens from an authorization server. Rejects with an McpError. */
  async refreshTokens(request: RefreshRequest, signal: AbortSignal): Promise<JsonObject> {
    const refreshed = this.#host().call('refresh', [request, this.#options.version], signal);
    try {
      return (await unlessEnded(refreshed, this.#closing.signal, signal)) as JsonObject;
    } catch (error) {
      if (!(error instanceof PeerEnded)) throw error;
      throw new McpError('closed', 'the request to the authorization server was lost');
    }
  }

  /** Ends the host with all connections. */
  async close(): Promise<void> {
    const why = new McpError('closed', 'the server is being shut down');
    this.#closing.abort(why);
    for (const connection of [...this.#connections.keys()]) this.#end(connection, why);
    await this.#worker?.close();
  }

  output(connection: number, bytes: Uint8Array): void {
    this.#events(connection)?.onOutput(bytes);
  }

  taken(connection: number, bytes: number): void {
    this.#events(connection)?.onTaken(bytes);
  }

  progress(call: number, progress: Progress): void {
    this.#progress.get(call)?.(progress);
  }

  async ask(
    connection: number,
    call: number | null,
    question: McpQuestion,
    withdrawn: AbortSignal,
  ): Promise<McpAnswer> {
    const open = this.#connections.get(connection);
    if (open === undefined) return refusal('nobody can answer');
    const gone = new AbortController();
    const stop = () => gone.abort();
    const signals = [withdrawn, open.ended.signal];
    for (const signal of signals) signal.addEventListener('abort', stop);
    if (withdrawn.aborted) stop();
    try {
      return await open.events.onQuestion(call, question, gone.signal);
    } catch (error) {
      this.#options.log.error(
        { err: error, kind: question.kind },
        'a question of an MCP server could not be answered',
      );
      return refusal('the question could not be answered');
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', stop);
    }
  }

  toolsChanged(connection: number, isLast: boolean): void {
    this.#events(connection)?.onToolsChanged(isLast);
  }

  closed(connection: number, reason: string | null): void {
    const events = this.#events(connection);
    this.#end(connection, new McpError('closed', reason ?? 'the server has ended'));
    events?.onClosed(reason);
  }

  noticed(connection: number, message: string): void {
    this.#options.log.debug({ connection, message }, 'an MCP connection noticed a problem');
  }

  #events(connection: number): ConnectionEvents | undefined {
    return this.#connections.get(connection)?.events;
  }

  #host(): Remote<McpHost> {
    if (this.#closing.signal.aborted)
      throw new McpError('unavailable', 'the server is being shut down');
    this.#local ??= this.#worker === null ? this.#startHere() : null;
    return this.#local ?? (this.#worker as RemoteWorker<McpHost>).remote;
  }

  /** Calls wait until the host's code is loaded. */
  #startHere(): Remote<McpHost> {
    const { env, log } = this.#options;
    const main = { ...localRemote<McpHostUser>(this), log };
    const host = import('./host/create-mcp-host.ts').then(({ createMcpHost }) =>
      createMcpHost(main, env),
    );
    host.catch((reason: Error) => {
      this.#local = null;
      this.#died(reason);
    });
    return localRemote(host, MCP_ERRORS);
  }

  async #request(
    host: Remote<McpHost>,
    connection: number,
    { request, options }: { request: McpRequest; options: McpRequestOptions },
  ): Promise<JsonValue> {
    const open = this.#connections.get(connection);
    if (open === undefined) throw new McpError('closed', 'the server has ended');
    const { signal, begun, onProgress } = options;
    const call = ++this.#count;
    if (onProgress !== undefined) this.#progress.set(call, onProgress);
    begun?.(call);
    try {
      const result = host.call('request', [connection, call, request], signal);
      return await unlessEnded(result, open.ended.signal, signal);
    } finally {
      this.#progress.delete(call);
    }
  }

  /** Rejects everything that waits for the connection, and forgets it. */
  #end(connection: number, error: McpError): void {
    this.#connections.get(connection)?.ended.abort(error);
    this.#connections.delete(connection);
  }

  #died(reason: Error): void {
    this.#options.log.error({ err: reason }, `${CALLED} has died`);
    const why = 'the connections to all MCP servers were lost';
    for (const [connection, { events }] of [...this.#connections]) {
      this.#end(connection, new McpError('closed', why));
      events.onClosed(why);
    }
  }
}

/**
 * Resolves or rejects as the promise does; if a signal aborts before, rejects at once: with the
 * reason of `ended`, or because the call is cancelled.
 */
async function unlessEnded<Value>(
  promise: Promise<Value>,
  ended: AbortSignal,
  cancelled?: AbortSignal,
): Promise<Value> {
  const outcome = orAborted(
    promise.then((value) => ({ value })),
    ended,
  );
  const given = await (cancelled === undefined ? outcome : orAborted(outcome, cancelled));
  if (given !== null) return given.value;
  if (ended.aborted) throw ended.reason;
  throw new McpError('cancelled', 'the request was cancelled');
}

function refusal(message: string): McpAnswer {
  return { error: { code: -32603, message } };
}
