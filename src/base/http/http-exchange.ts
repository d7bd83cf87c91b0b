import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';
import type { JsonText } from '../text/json-text.ts';
import type { HttpProxy } from './proxy-for.ts';
import type { TunnelRequest } from './tunnel-agent.ts';

/** The longest time of a timer, for requests that only their signal ends. */
export const NO_LIMIT_MS = 2 ** 31 - 1;
const WRITE_BYTES_MAX = 64 * 1024;
/** How long the rest of a completed response may take to arrive. */
const DRAIN_MS_MAX = 1_000;
/**
 * When a caller that is farther behind gets the end of a response, the server, which sent it
 * before, may have closed the connection.
 */
const BEHIND_MS_MAX = 1_000;

export interface HttpRequest {
  method: string;
  url: URL;
  /** Null: the request goes directly. */
  proxy: HttpProxy | null;
  headers: Record<string, string>;
  body: JsonText | null;
  /** How long connecting may take, with TLS. */
  connectMsMax: number;
  /** How long the server may be silent, from connecting to the end of the response. */
  idleMsMax: number;
}

export interface ResponseHead {
  status: number;
  headers: IncomingHttpHeaders;
}

/** Why an exchange broke: no connection in time, silence, the abort signal, or a network error. */
export type Break =
  | { broken: 'connect' }
  | { broken: 'idle' }
  | { broken: 'aborted' }
  | { broken: 'network'; cause: NodeJS.ErrnoException };

/** Sends the head of a request. `until` aborts when the request ends. */
export type Send = (
  url: URL,
  options: { method: string; headers: Record<string, string | number> } & TunnelRequest,
) => ClientRequest;

/**
 * One request and its response. The response is read from the network only as fast as `read` is
 * called. Silence is measured only while the caller waits. A broken exchange stays broken.
 */
export class HttpExchange {
  readonly #httpRequest: HttpRequest;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #request: ClientRequest;
  readonly #ending = new AbortController();
  #response: IncomingMessage | null = null;
  #break: Break | null = null;
  #ended = false;
  #connecting: Timer | null;
  #wake: () => void = () => {};
  /** When the caller got the chunk that it uses; null: it waits for one, or has none. */
  #usingSince: number | null = null;
  /** By how much longer it has used the chunks than waited for them. */
  #behindMs = 0;

  constructor(
    httpRequest: HttpRequest,
    { send, clock, signal }: { send: Send; clock: Clock; signal: AbortSignal },
  ) {
    this.#httpRequest = httpRequest;
    this.#clock = clock;
    this.#signal = signal;
    const { method, url, headers, body } = httpRequest;
    const { signal: until } = this.#ending;
    this.#request = send(url, {
      method,
      headers: { ...headers, 'content-length': body?.length ?? 0 },
      until,
    });
    this.#connecting = clock.setTimer(
      () => this.#breakOff({ broken: 'connect' }),
      httpRequest.connectMsMax,
    );
    this.#request.on('socket', (socket) => this.#awaitConnection(socket));
    this.#request.on('response', (response) => this.#receive(response));
    this.#request.on('error', (cause) => this.#breakOffUnanswered(cause));
    this.#request.on('close', () =>
      this.#breakOffUnanswered(new Error('closed without an answer')),
    );
    signal.addEventListener('abort', this.#abort);
    if (signal.aborted) this.#abort();
    else this.#write(body?.parts ?? [], 0);
  }

  /** Resolves with the response's status and headers. */
  async head(): Promise<ResponseHead | Break> {
    while (this.#response === null && this.#break === null)
      await this.#change(this.#httpRequest.idleMsMax);
    if (this.#break !== null) return this.#break;
    const { statusCode = 0, headers } = this.#response as unknown as IncomingMessage;
    return { status: statusCode, headers };
  }

  /**
   * Resolves with the next chunk of the body, never with a part of a UTF-8 character; null at the
   * end. Call it after `head`. `idleMsMax`: how long to wait; by default the request's idle limit.
   */
  async read(idleMsMax = this.#httpRequest.idleMsMax): Promise<string | Break | null> {
    this.#keepOnlyIfQuick();
    const waitingSince = this.#clock.monotonic();
    for (;;) {
      if (this.#break?.broken === 'aborted') return this.#break;
      const chunk: string | null = this.#response?.read() ?? null;
      if (chunk !== null) {
        this.#usingSince = this.#clock.monotonic();
        this.#behindMs = Math.max(0, this.#behindMs - (this.#usingSince - waitingSince));
        return chunk;
      }
      if (this.#ended) return null;
      if (this.#break !== null) return this.#break;
      await this.#change(idleMsMax);
    }
  }

  /** Ends the exchange at once, in any state. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#connected();
    if (!this.#ended) this.#destroy();
  }

  /**
   * Ends an exchange whose response is complete. Its last bytes are discarded, so that the
   * connection can be used again.
   */
  finish(): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#keepOnlyIfQuick();
    const response = this.#response;
    if (response === null || this.#ended || this.#break !== null || response.destroyed) return;
    response.removeAllListeners('readable');
    response.resume();
    if (response.complete) return;
    const timer = this.#clock.setTimer(() => this.#request.destroy(), DRAIN_MS_MAX);
    response.on('close', () => timer.clear());
  }

  /** Another request over a connection that the server has closed would fail. */
  #keepOnlyIfQuick(): void {
    if (this.#usingSince === null) return;
    this.#behindMs += this.#clock.monotonic() - this.#usingSince;
    this.#usingSince = null;
    if (this.#behindMs > BEHIND_MS_MAX) this.#request.shouldKeepAlive = false;
  }

  #awaitConnection(socket: Socket): void {
    // A kept connection is ready, and so is one through a proxy.
    if (socket.connecting)
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => this.#connected());
    else this.#connected();
  }

  #connected(): void {
    this.#connecting?.clear();
    this.#connecting = null;
  }

  readonly #abort = (): void => this.#breakOff({ broken: 'aborted' });

  /** Sends large bodies in chunks, so that progress can be distinguished from silence. */
  #write(parts: readonly Buffer[], start: number): void {
    const [part, ...rest] = parts;
    if (part === undefined) {
      this.#request.end();
      return;
    }
    const end = start + WRITE_BYTES_MAX;
    const isPartEnd = end >= part.length;
    if (isPartEnd && rest.length === 0) {
      this.#request.end(part.subarray(start));
      return;
    }
    this.#request.write(part.subarray(start, end), (error) => {
      if (error || this.#break !== null) return;
      this.#wake();
      this.#write(isPartEnd ? rest : parts, isPartEnd ? 0 : end);
    });
  }

  #receive(response: IncomingMessage): void {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('readable', () => this.#wake());
    response.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
    response.on('error', (cause) => this.#breakOff({ broken: 'network', cause }));
    response.on('close', () =>
      this.#breakOff({ broken: 'network', cause: new Error('closed before its end') }),
    );
    this.#wake();
  }

  /** Ignored once there is a response: its content and its end count then. */
  #breakOffUnanswered(cause: Error): void {
    if (this.#response === null) this.#breakOff({ broken: 'network', cause });
  }

  #breakOff(why: Break): void {
    if (this.#ended || this.#break !== null) return;
    this.#break = why;
    this.#connected();
    this.#destroy();
    this.#wake();
  }

  #destroy(): void {
    this.#ending.abort();
    this.#request.destroy();
  }

  /** Resolves at the next event of the exchange, or breaks it after too much silence. */
  #change(idleMsMax: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(() => this.#breakOff({ broken: 'idle' }), idleMsMax);
      this.#wake = () => {
        timer.clear();
        this.#wake = () => {};
        resolve();
      };
    });
  }
}
