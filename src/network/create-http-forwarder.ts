import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NetworkTarget } from '../policy/network/network-target.ts';
import { hostInUrl, readAuthority, readHost } from '../policy/network/read-host.ts';
import { ProxyRefusal, REFUSAL_FORMS } from './proxy-refusal.ts';

/** The most bytes of a request's first line and headers. */
const HEADER_BYTES_MAX = 32 * 1024;
/**
 * A client can send requests before the answers to earlier ones. A connection with more such
 * requests is closed.
 */
const PIPELINED_MAX = 32;
const HTTP_PORT = 80;
/** The headers that say where a request ends and to whom it goes. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'host']);
/**
 * Headers that are about one connection only (RFC 9110, 7.6.1), and those that the proxy sets
 * itself.
 */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'],
  ...['proxy-authorization', 'proxy-authenticate', 'expect', 'host'],
]);

export interface HttpForwarderDeps {
  /**
   * Connects to the target of a client's request if it is allowed. Rejects with a `ProxyRefusal`.
   * `method` is null for a tunnel.
   */
  open(request: { target: NetworkTarget; method: string | null }, client: Duplex): Promise<Socket>;
  /** Whether a connection's `Proxy-Authorization` header is right. */
  isAuthorized(socket: Duplex, header: string | undefined): boolean;
  /** Joins the two ends of a tunnel. */
  join(client: Duplex, upstream: Socket): void;
  /** Sends the last bytes of a connection. */
  end(socket: Duplex, bytes: string): void;
  /** Called for each request, when its headers have been read. */
  onRequest(socket: Duplex): void;
}

/**
 * Returns a server for plain requests and tunnels. It does not listen: pass it connections with
 * `emit('connection', socket)`.
 */
export function createHttpForwarder(deps: HttpForwarderDeps): Server {
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX, noDelay: true });
  const lines = new WeakMap<Duplex, RequestLine>();
  server.on('request', (request, response) => {
    const { socket } = request;
    // The parser goes on with what it has read.
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? { waiting: 0, answered: Promise.resolve() };
    lines.set(socket, line);
    if (++line.waiting > PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    deps.onRequest(socket);
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    line.answered = line.answered.then(async () => {
      if (socket.destroyed) return;
      await forward(request, response, deps).catch((error: unknown) => refuse(response, error));
      await closed;
      line.waiting--;
    });
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    deps.onRequest(socket);
    socket.on('error', () => socket.destroy());
    void tunnel(request, { socket, head }, deps).catch((error: unknown) =>
      deps.end(socket, rawRefusal(error)),
    );
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      deps.end(socket, rawRefusal(new ProxyRefusal('invalid', 'The request is not valid HTTP.')));
    else socket.destroy();
  });
  return server;
}

/**
 * The requests of a connection that are not answered yet. Each is decided about when the one before
 * it has been answered.
 */
interface RequestLine {
  waiting: number;
  answered: Promise<void>;
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { open, isAuthorized }: HttpForwarderDeps,
): Promise<void> {
  requireCredential(isAuthorized(request.socket, request.headers['proxy-authorization']));
  // Without these headers, the host would take the body for another request, which nobody has
  // decided about.
  if (namedByConnection(request.rawHeaders).some((name) => FRAMING.has(name))) {
    throw new ProxyRefusal('invalid', 'Connection names a header that must be passed on.');
  }
  const { target, path } = readTarget(request.url ?? '');
  const socket = await open({ target, method: request.method ?? '' }, request.socket);
  if (response.destroyed) {
    socket.destroy();
    return;
  }
  const upstream = sendRequest({
    createConnection: () => socket,
    method: request.method ?? '',
    path,
    headers: [
      'Host',
      authority(target),
      ...passedOn(request.rawHeaders),
      ...framing(request),
      'Connection',
      'close',
    ],
  });
  response.once('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', (error) =>
      reject(new ProxyRefusal('unreachable', `${target.host} did not answer.`, { cause: error })),
    );
    // Also when it answers with a change of the protocol, which nobody asked for.
    socket.once('close', () =>
      reject(new ProxyRefusal('unreachable', `${target.host} gave no answer.`)),
    );
  });
  // If the response comes first, or the client goes away, the rest of the request has no reader.
  void pipeline(request, upstream).catch(() => {});
  const answer = await answered;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders));
  await pipeline(answer, response).catch(() => response.destroy());
}

async function tunnel(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  { open, isAuthorized, join }: HttpForwarderDeps,
): Promise<void> {
  requireCredential(isAuthorized(socket, request.headers['proxy-authorization']));
  const wanted = readAuthority(request.url ?? '');
  if (wanted === null) throw new ProxyRefusal('invalid', 'CONNECT needs a host and a port.');
  const upstream = await open({ target: { ...wanted, protocol: 'https' }, method: null }, socket);
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  join(socket, upstream);
}

function requireCredential(isAuthorized: boolean): void {
  if (!isAuthorized)
    throw new ProxyRefusal('credential', 'This proxy needs the credential of its command.');
}

/**
 * Reads the absolute URL of a plain request. The host is the one of the URL, whatever the header
 * `Host` says.
 */
function readTarget(text: string): { target: NetworkTarget; path: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'http:')
    throw new ProxyRefusal('invalid', 'The proxy takes http URLs, and CONNECT for all others.');
  const host = readHost(url.hostname);
  const port = url.port === '' ? HTTP_PORT : Number(url.port);
  if (host === null || port === 0 || url.username !== '' || url.password !== '') {
    throw new ProxyRefusal('invalid', 'The URL names no valid host and port, or has a user.');
  }
  return { target: { host, port, protocol: 'http' }, path: `${url.pathname}${url.search}` };
}

function authority({ host, port }: NetworkTarget): string {
  return port === HTTP_PORT ? hostInUrl(host) : `${hostInUrl(host)}:${port}`;
}

/**
 * A body in chunks stays in chunks. Without this, Node would send the body of a GET without its
 * end, as if requests followed.
 */
function framing({ headers }: IncomingMessage): string[] {
  return headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
}

/**
 * Returns the headers without those of one connection, which are also those that `Connection`
 * names.
 */
function passedOn(rawHeaders: readonly string[]): string[] {
  const named = namedByConnection(rawHeaders);
  const isOfConnection = (name: string) =>
    NOT_PASSED_ON.has(name) || (named.includes(name) && !FRAMING.has(name));
  return headerPairs(rawHeaders)
    .filter(([name]) => !isOfConnection(name.toLowerCase()))
    .flat();
}

/** Returns the names of the headers that are about the connection only, in lower case. */
function namedByConnection(rawHeaders: readonly string[]): string[] {
  const values = headerPairs(rawHeaders).flatMap(([name, value]) =>
    name.toLowerCase() === 'connection' ? [value] : [],
  );
  return values.flatMap((value) =>
    value
      .toLowerCase()
      .trim()
      .split(/\s*,\s*/),
  );
}

function headerPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ]);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, text } = refusalOf(error);
  response.writeHead(status, { ...headers, connection: 'close' }).end(text);
}

function rawRefusal(error: unknown): string {
  const { status, headers, text } = refusalOf(error);
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-length': String(Buffer.byteLength(text)),
  });
  return `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

function refusalOf(error: unknown): {
  status: number;
  headers: Record<string, string>;
  text: string;
} {
  const refusal =
    error instanceof ProxyRefusal ? error : new ProxyRefusal('unreachable', 'The request failed.');
  const { status, header } = REFUSAL_FORMS[refusal.code];
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      ...(header === undefined ? {} : { 'x-proxy-error': header }),
      ...(refusal.code === 'credential' ? { 'proxy-authenticate': 'Basic realm="heddle"' } : {}),
    },
    text: `heddle: ${refusal.message}\n`,
  };
}
