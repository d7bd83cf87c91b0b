import {
  createMessageConnection,
  type MessageConnection,
  ResponseError,
} from 'vscode-jsonrpc/node';
import type { Clock } from '../base/clock.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import { experimentalNotifications } from '../protocol/generated/methods.ts';
import type { InitializeParams, ServerDiagnosticsConnection } from '../protocol/generated/types.ts';
import { alreadyInitialized, overloaded, RpcError, shuttingDown } from '../protocol/rpc-error.ts';
import { type ClientResponse, JsonReader, READER_NOTIFICATIONS } from '../transport/json-reader.ts';
import { JsonWriter } from '../transport/json-writer.ts';
import type { OutgoingMessage } from '../transport/outgoing-message.ts';
import { RequestIds } from '../transport/request-ids.ts';
import type { Transport } from '../transport/transport.ts';
import type { WireTap } from '../transport/wire-tap.ts';
import { atMost } from './at-most.ts';
import { HeldMessages } from './held-messages.ts';

export interface ConnectionOptions {
  transport: Transport;
  log: Log;
  clock: Clock;
  keepAlive: KeepAlive;
  tap: WireTap | null;
  /**
   * Called for each request of a short line, before `onRequest`. The params have not been
   * validated.
   */
  onShortRequest: (connection: Connection, method: string, params: unknown) => void;
  /** Resolves with the result of a request, or rejects. */
  onRequest: (connection: Connection, method: string, params: unknown) => Promise<unknown>;
  /**
   * Takes a client's response to a request of the server. Resolves when it has taken effect; never
   * rejects.
   */
  onResponse: (connection: Connection, response: ClientResponse) => Promise<void>;
  /**
   * Called when the client has closed its side and some of its requests are still unanswered a
   * second later. Ends the work that they wait for.
   */
  onOverdue: () => void;
  /**
   * Resolves when the client has the warnings that follow its handshake; null: it has them, or
   * there was no handshake.
   */
  warned: () => Promise<void> | null;
  /**
   * Called when the client has closed its side. Resolves when the server has nothing more to send
   * to it.
   */
  onInputEnd: () => Promise<void>;
  /** Called when the connection has ended, from either side. May be called twice. */
  onClosed: () => void;
}

/** How long the connection waits for unanswered requests once the client has closed its side. */
const LAST_ANSWERS_MS_MAX = 3000;
/** How soon within that time `onOverdue` is called. */
const OVERDUE_MS = 1000;
/** How long a closing server waits for a client that does not read. */
const LAST_BYTES_MS_MAX = 1000;

/** The connection to a client: its handshake, and the two directions of its transport. */
export class Connection {
  readonly id: number;
  readonly #ids = new RequestIds();
  readonly #writer: JsonWriter;
  readonly #messages = new HeldMessages((message) => this.#writer.send(message));
  readonly #reader: JsonReader;
  readonly #rpc: MessageConnection;
  readonly #options: ConnectionOptions;
  readonly #connectedAtMs: number;
  #client: InitializeParams | null = null;
  #gate: Promise<void> = Promise.resolve();
  #waiting = 0;
  #muted: ReadonlySet<string> = new Set();
  #input: Connection['input'] = 'open';
  readonly #gone = new AbortController();
  /** The client's answers that have not taken effect. */
  readonly #answers = new Set<Promise<void>>();

  constructor(id: number, options: ConnectionOptions) {
    this.id = id;
    this.#options = options;
    const { transport, log, tap, clock } = options;
    this.#connectedAtMs = clock.now();
    this.#writer = new JsonWriter(transport, { ids: this.#ids, tap });
    this.#reader = new JsonReader(transport, {
      ids: this.#ids,
      log,
      tap,
      onShortRequest: (method, params) => options.onShortRequest(this, method, params),
      onOverload: (idText) => this.#refuse(idText),
    });
    this.#rpc = createMessageConnection(this.#reader, this.#writer, {
      error: (text) => log.error({ text }, 'json-rpc error'),
      warn: (text) => log.warn({ text }, 'json-rpc warning'),
      info: (text) => log.info({ text }, 'json-rpc'),
      log: (text) => log.debug({ text }, 'json-rpc'),
    });
    this.#rpc.onRequest((method: string, params: unknown) => this.#answer(method, params));
    this.#rpc.onNotification((method: string, params: unknown) => this.#take(method, params));
    this.#rpc.onError(([error]) => log.warn({ err: error }, 'connection error'));
    this.#rpc.onClose(() => this.#closed());
  }

  listen(): void {
    this.#rpc.listen();
  }

  /** The params of `initialize`; null before the handshake. */
  get client(): InitializeParams | null {
    return this.#client;
  }

  /** `ending`: the client has closed its side. `ended`: its messages were taken, or are overdue. */
  get input(): 'open' | 'ending' | 'ended' {
    return this.#input;
  }

  get experimentalApi(): boolean {
    return this.#client?.capabilities?.experimentalApi === true;
  }

  /** The params of the open requests with this id. */
  openParams(requestId: string | number): readonly object[] {
    return this.#ids.paramsOf(requestId);
  }

  /** Aborts when the client can send nothing more, or does not wait for responses any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Ends what the open requests wait for. */
  abandon(): void {
    this.#gone.abort();
  }

  /** Completes the handshake. Throws if it is already complete. */
  initialize(params: InitializeParams): void {
    if (this.#client !== null) throw alreadyInitialized();
    this.#client = params;
    this.#muted = new Set(params.capabilities?.optOutNotificationMethods ?? []);
  }

  /**
   * Whether the client gets this notification: after the handshake, unless it has opted out of it,
   * or not into the experimental API that it belongs to.
   */
  hears(method: string): boolean {
    if (this.#client === null || this.#muted.has(method)) return false;
    return this.experimentalApi || !experimentalNotifications.includes(method);
  }

  /** Sends a notification or a request. */
  send(message: OutgoingMessage): void {
    this.#messages.send(message);
  }

  /** `HeldMessages.hold`. */
  hold(): () => void {
    return this.#messages.hold();
  }

  /** Writes the messages that were sent so far. */
  flush(): void {
    this.#writer.flush();
  }

  /** Its entry in `server/diagnostics`, without the threads. */
  get view(): Omit<ServerDiagnosticsConnection, 'threadsFollowed'> {
    return {
      id: this.id,
      peer: this.#options.transport.peer ?? 'stdio',
      client: this.#client?.clientInfo ?? null,
      connectedAtMs: this.#connectedAtMs,
      ...this.#writer.unread,
    };
  }

  /**
   * Returns null while the client keeps up with reading, else a promise that resolves when it has
   * caught up.
   */
  drained(): Promise<void> | null {
    return this.#writer.drained();
  }

  /** As `drained`, for work that others follow too: a remote client only gets time to read. */
  heldBack(): Promise<void> | null {
    const backlog = this.drained();
    if (backlog === null || this.#options.transport.isRemote !== true) return backlog;
    return new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * Ends the connection, because the server ends, when all messages have been written, or soon if
   * the client does not read. Requests that have been read and are still open are refused.
   */
  async close(): Promise<void> {
    this.#reader.pause();
    this.#messages.releaseAll();
    // Calls that are done by now have answered one turn of the event loop later.
    await new Promise((resolve) => setImmediate(resolve));
    for (const idText of this.#ids.closeAll()) this.#writeRefusal(idText, shuttingDown());
    await atMost(this.#options.clock, LAST_BYTES_MS_MAX, this.#writer.flushed());
    this.#options.transport.end();
    this.#rpc.dispose();
    this.#closed();
  }

  /**
   * Returns null while the client keeps up with reading. If it does not, its requests wait, so that
   * responses do not pile up: returns a promise that resolves when the client reads again. Requests
   * then continue one by one, each only when the response to the previous one is counted as unread
   * output.
   */
  ready(): Promise<void> | null {
    if (this.#waiting === 0 && this.#writer.drained() === null) return null;
    this.#waiting++;
    this.#gate = this.#gate.then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      for (let backlog = this.#writer.drained(); backlog !== null; backlog = this.#writer.drained())
        await backlog;
      this.#waiting--;
    });
    return this.#gate;
  }

  #take(method: string, params: unknown): void {
    const { keepAlive, log, onResponse } = this.#options;
    if (method === READER_NOTIFICATIONS.answer) {
      const answer = onResponse(this, params as ClientResponse);
      this.#answers.add(answer);
      void keepAlive.during(answer).then(() => this.#answers.delete(answer));
    } else if (method === READER_NOTIFICATIONS.end) void keepAlive.during(this.#finish());
    // `initialized` changes nothing: the handshake is complete with the response to `initialize`.
    // There are no other notifications.
    else log.debug({ method }, 'notification');
  }

  async #answer(method: string, params: unknown): Promise<unknown> {
    const { clock, keepAlive, log, onRequest } = this.#options;
    const startedMs = clock.monotonic();
    const took = () => ({ method, ms: Math.round(clock.monotonic() - startedMs) });
    try {
      const result = await keepAlive.during(onRequest(this, method, params));
      log.debug(took(), 'answered');
      return result;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error.body;
      log.debug({ ...took(), error: error.data.code }, 'refused');
      return new ResponseError(code, message, data);
    }
  }

  /**
   * Refuses a request beyond the limit. If the client does not read its responses, reading from it
   * stops too.
   */
  #refuse(idText: string): void {
    this.#writeRefusal(idText, overloaded());
    const backlog = this.#writer.drained();
    if (backlog === null) return;
    this.#reader.pause();
    void backlog.then(() => this.#reader.resume());
  }

  #writeRefusal(idText: string, error: RpcError): void {
    this.#writer.send(`{"id":${idText},"error":${JSON.stringify(error.body)}}`);
  }

  async #finish(): Promise<void> {
    this.#input = 'ending';
    const taken = Promise.all([this.#ids.empty(), ...this.#answers]).then(() => {});
    if (!(await atMost(this.#options.clock, OVERDUE_MS, taken))) {
      this.#options.onOverdue();
      await atMost(this.#options.clock, LAST_ANSWERS_MS_MAX - OVERDUE_MS, taken);
    }
    // One turn of the event loop later, the effects of the last requests have begun.
    await new Promise((resolve) => setImmediate(resolve));
    this.#input = 'ended';
    this.#gone.abort();
    const warned = this.#options.warned();
    if (warned !== null) await atMost(this.#options.clock, LAST_ANSWERS_MS_MAX, warned);
    await this.#options.onInputEnd();
    await atMost(this.#options.clock, LAST_ANSWERS_MS_MAX, this.#writer.flushed());
    this.#closed();
  }

  #closed(): void {
    this.#gone.abort();
    this.#options.onClosed();
  }
}
