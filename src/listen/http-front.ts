import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../base/clock.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';
import type { Transport } from '../transport/transport.ts';
import {
  FRAME_BYTES_MAX,
  SharedFrames,
  webSocketTransport,
} from '../transport/web-socket-transport.ts';
import type { Refusal } from './admission-rules.ts';
import { LivenessChecks } from './liveness-checks.ts';

const HEADER_BYTES_MAX = 16 * 1024;
/** How long a client may take to send its request. */
const REQUEST_MS_MAX = 10_000;
/** How often late requests are looked for. */
const LOOK_MS = 2_000;
/** The upgrades that are checked at a time. Further ones are refused. */
const CHECKED_MAX = 256;

/** The paths that say whether the server runs. */
const HEALTH = ['/healthz', '/readyz'];
const HEALTHY = { status: 200, text: '' };

export interface HttpFrontOptions {
  clock: Clock;
  /** Why a request is refused before anybody asks who makes it; null: it is not. */
  requestRefusal(request: IncomingMessage): Refusal | null;
  /** Why a client may not connect; null: it may. */
  clientRefusal(request: IncomingMessage): Promise<Refusal | null>;
  /** Takes the place of a connection. Returns its release; null: no place is left. */
  takePlace(): (() => void) | null;
  /** Whether the paths of health are served. */
  tellsHealth: boolean;
  /** Called for each refused request. */
  onRefused(refusal: Refusal): void;
  /** Called with the error of a look-up. */
  onFault(error: unknown): void;
  onConnection(transport: Transport): void;
}

/**
 * An HTTP server that upgrades requests on any path to web sockets, each of which is a connection
 * of a client.
 */
export class HttpFront {
  readonly server: Server;
  readonly #options: HttpFrontOptions;
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LINE_BYTES_MAX,
    handleProtocols: () => false,
  });
  readonly #frames = new SharedFrames();
  readonly #liveness: LivenessChecks;
  #checking = 0;

  constructor(options: HttpFrontOptions) {
    this.#options = options;
    this.#liveness = new LivenessChecks(options.clock);
    this.server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: REQUEST_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: LOOK_MS,
      keepAliveTimeout: LOOK_MS,
      // Some clients send none to a unix socket.
      requireHostHeader: false,
    });
    this.server.on('connection', (stream) => {
      const release = options.takePlace();
      if (release === null) stream.destroy();
      else stream.once('close', release);
    });
    this.server.on('request', (request, response) => {
      const { status, text } = this.#answerTo(request);
      response.writeHead(status, { connection: 'close', 'content-length': text.length }).end(text);
    });
    this.server.on('upgrade', (request, stream, head) => {
      stream.on('error', () => {});
      void this.#upgrade(request, stream as Socket, head);
    });
    // Says how long a message in one frame may be.
    this.#upgrader.on('headers', (headers) => headers.push(`${FRAME_HEADER}: ${FRAME_BYTES_MAX}`));
  }

  /** Stops listening, and closes connections that have not been upgraded. */
  close(): void {
    this.#liveness.end();
    this.server.close();
    this.server.closeAllConnections();
  }

  #answerTo(request: IncomingMessage): { status: number; text: string } {
    const refusal = this.#options.requestRefusal(request);
    if (refusal !== null) {
      this.#options.onRefused(refusal);
      return refusal;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, text: 'expected GET' };
    return this.#asksForHealth(request) ? HEALTHY : { status: 400, text: 'expected a web socket' };
  }

  #asksForHealth({ url = '' }: IncomingMessage): boolean {
    return this.#options.tellsHealth && HEALTH.includes(url.split('?')[0] ?? '');
  }

  async #upgrade(request: IncomingMessage, stream: Socket, head: Buffer): Promise<void> {
    const refusal = await this.#refusal(request);
    if (stream.destroyed) return;
    if (!this.server.listening) {
      stream.destroy();
      return;
    }
    if (refusal !== null) {
      this.#options.onRefused(refusal);
      refuse(stream, refusal);
      return;
    }
    this.#upgrader.handleUpgrade(request, stream, head, (socket) => this.#opened(socket, stream));
  }

  async #refusal(request: IncomingMessage): Promise<Refusal | null> {
    const { requestRefusal, clientRefusal } = this.#options;
    const refusal = requestRefusal(request);
    if (refusal !== null) return refusal;
    if (this.#checking >= CHECKED_MAX) return { status: 503, text: 'too many clients connect' };
    this.#checking++;
    try {
      return await clientRefusal(request);
    } catch (error) {
      // A client that cannot be looked up is refused. Its answer has no names of files.
      this.#options.onFault(error);
      return { status: 503, text: 'the client could not be checked' };
    } finally {
      this.#checking--;
    }
  }

  #opened(socket: WebSocket, stream: Socket): void {
    // A frame that breaks the protocol closes the web socket, which the transport tells.
    socket.on('error', () => {});
    stream.setNoDelay(true);
    this.#liveness.add({ socket, stream });
    const { remoteAddress: address, remotePort: port } = stream;
    const peer = address === undefined ? 'unix' : `${address}:${port}`;
    this.#options.onConnection(webSocketTransport({ socket, stream, peer }, this.#frames));
  }
}

const FRAME_HEADER = 'x-codex-websocket-max-unfragmented-message-bytes';

/** The client may keep its end open as long as it likes. */
function refuse(stream: Socket, { status, text }: Refusal): void {
  stream.once('finish', () => stream.destroy());
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
