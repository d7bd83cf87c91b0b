import { createMessageConnection, type MessageConnection, ResponseError } from 'vscode-jsonrpc/node';
import { type Clock, sleep } from '../base/clock.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import type { InitializeParams } from '../protocol/generated/types.ts';
import { alreadyInitialized, overloaded, RpcError } from '../protocol/rpc-error.ts';
import { type ClientResponse, JsonReader } from '../transport/json-reader.ts';
import { JsonWriter } from '../transport/json-writer.ts';
import { RequestIds } from '../transport/request-ids.ts';
import type { Transport } from '../transport/transport.ts';
import type { WireTap } from '../transport/wire-tap.ts';

export interface ConnectionOptions {
  transport: Transport;
  log: Log;
  clock: Clock;
  keepAlive: KeepAlive;
  tap: WireTap | null;
  /** Answers a request, or throws. */
  onRequest: (connection: Connection, method: string, params: unknown) => Promise<unknown>;
  /** Takes the client's answer to a request of ours. */
  onResponse: (response: ClientResponse) => void;
  /** The client has closed its side, and has not got all its answers soon: what they wait for is to end. */
  onOverdue: () => void;
  /** The client has closed its side: resolves when what it is still to be sent has been made. */
  onInputEnd: () => Promise<void>;
  /** The connection is over: the client is gone and has its answers, or this side has ended it. May be called twice. */
  onClosed: () => void;
}

/** How long answers that are still owed may hold up the end, once the client has closed its side. */
const LAST_ANSWERS_MS_MAX = 3000;
/** After how much of that it is no longer waited for what runs by itself. */
const OVERDUE_MS = 1000;
/** How long a client that does not read may hold up the end of the server. */
const LAST_BYTES_MS_MAX = 1000;

/** One client: its handshake, what it wants to hear, and the two directions of its transport. */
export class Connection {
  readonly id: number;
  readonly #ids = new RequestIds();
  readonly #writer: JsonWriter;
  readonly #reader: JsonReader;
  readonly #rpc: MessageConnection;
  readonly #options: ConnectionOptions;
  #client: InitializeParams | null = null;
  #gate: Promise<void> = Promise.resolve();
  #waiting = 0;
  #muted: ReadonlySet<string> = new Set();
  #inputEnded = false;

  constructor(id: number, options: ConnectionOptions) {
    this.id = id;
    this.#options = options;
    const { transport, log, tap } = options;
    this.#writer = new JsonWriter(transport, { ids: this.#ids, tap });
    this.#reader = new JsonReader(transport, {
      ids: this.#ids,
      log,
      tap,
      onResponse: options.onResponse,
      onOverload: (idText) => this.#refuse(idText),
      onEnd: () => void options.keepAlive.during(this.#finish()),
    });
    this.#rpc = createMessageConnection(this.#reader, this.#writer, {
      error: (text) => log.error({ text }, 'json-rpc error'),
      warn: (text) => log.warn({ text }, 'json-rpc warning'),
      info: (text) => log.info({ text }, 'json-rpc'),
      log: (text) => log.debug({ text }, 'json-rpc'),
    });
    this.#rpc.onRequest((method: string, params: unknown) => this.#answer(method, params));
    // `initialized` says nothing that the answer to `initialize` has not settled; others are not known.
    this.#rpc.onNotification((method: string) => log.debug({ method }, 'notification'));
    this.#rpc.onError(([error]) => log.warn({ err: error }, 'connection error'));
    this.#rpc.onClose(options.onClosed);
  }

  listen(): void {
    this.#rpc.listen();
  }

  /** What the client said of itself; null before the handshake. */
  get client(): InitializeParams | null {
    return this.#client;
  }

  /** Whether the client has closed its side, and all that it asked for is under way or done. */
  get inputEnded(): boolean {
    return this.#inputEnded;
  }

  get experimentalApi(): boolean {
    return this.#client?.capabilities?.experimentalApi === true;
  }

  /** Completes the handshake. It happens once. */
  initialize(params: InitializeParams): void {
    if (this.#client !== null) throw alreadyInitialized();
    this.#client = params;
    this.#muted = new Set(params.capabilities?.optOutNotificationMethods ?? []);
  }

  /** Whether the client has not opted out of this notification. */
  hears(method: string): boolean {
    return this.#client !== null && !this.#muted.has(method);
  }

  /** Sends a notification or a request, given as its JSON text. */
  send(line: string): void {
    this.#writer.send(line);
  }

  /** Null while the client reads what it is sent; else resolves when it has caught up. */
  drained(): Promise<void> | null {
    return this.#writer.drained();
  }

  /** Ends the connection once all that was sent has left, or is not read; what is unanswered stays so. */
  async close(): Promise<void> {
    await this.#atMost(LAST_BYTES_MS_MAX, this.#writer.flushed());
    this.#rpc.dispose();
    this.#options.onClosed();
  }

  /**
   * A client that does not read what it is sent waits for its answers: nothing is made that piles up unread. When it reads
   * on, requests are let through one by one, each when the answer before it has been counted.
   */
  ready(): Promise<void> | null {
    if (this.#waiting === 0 && this.#writer.drained() === null) return null;
    this.#waiting++;
    this.#gate = this.#gate.then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      for (let backlog = this.#writer.drained(); backlog !== null; backlog = this.#writer.drained()) await backlog;
      this.#waiting--;
    });
    return this.#gate;
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
      const { code, message, data } = errorBody(error);
      log.debug({ ...took(), error: error.data.code }, 'refused');
      return new ResponseError(code, message, data);
    }
  }

  /** One that sends more than it reads, and without end, is not read from either. */
  #refuse(idText: string): void {
    this.#writer.send(`{"id":${idText},"error":${JSON.stringify(errorBody(overloaded()))}}`);
    const backlog = this.#writer.drained();
    if (backlog === null) return;
    this.#reader.pause();
    void backlog.then(() => this.#reader.resume());
  }

  async #finish(): Promise<void> {
    if (!(await this.#atMost(OVERDUE_MS, this.#ids.empty()))) {
      this.#options.onOverdue();
      await this.#atMost(LAST_ANSWERS_MS_MAX - OVERDUE_MS, this.#ids.empty());
    }
    // By the next turn of the event loop, what was to follow the last answers has begun.
    await new Promise((resolve) => setImmediate(resolve));
    this.#inputEnded = true;
    await this.#options.onInputEnd();
    await this.#atMost(LAST_ANSWERS_MS_MAX, this.#writer.flushed());
    this.#options.onClosed();
  }

  /** False: that was not enough. */
  async #atMost(ms: number, work: Promise<void>): Promise<boolean> {
    const over = new AbortController();
    const done = await Promise.race([work.then(() => true), sleep(this.#options.clock, ms, over.signal).then(() => false)]);
    over.abort();
    return done;
  }
}

function errorBody(error: RpcError): { code: number; message: string; data: unknown } {
  return { code: error.code, message: error.message, data: error.data };
}
