import { createServer, type IncomingMessage, type Server, type ServerResponse, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NetworkTarget } from '../policy/network/network-target.ts';
import { hostInUrl, readAuthority, readHost } from '../policy/network/read-host.ts';
import { ProxyRefusal, REFUSAL_FORMS } from './proxy-refusal.ts';

/** The most bytes of a request's first line and headers. */
const HEADER_BYTES_MAX = 32 * 1024;
const HTTP_PORT = 80;
/** Headers that are about one connection only (RFC 9110, 7.6.1), and those that the proxy sets itself. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'],
  ...['proxy-authorization', 'proxy-authenticate', 'expect', 'host'],
]);

export interface HttpForwarderDeps {
  /** Connects to a target if it is allowed. Rejects with a `ProxyRefusal`. `method` is null for a tunnel. */
  open(target: NetworkTarget, method: string | null): Promise<Socket>;
  /** Whether a connection's `Proxy-Authorization` header is right. */
  isAuthorized(socket: Duplex, header: string | undefined): boolean;
  /** Joins the two ends of a tunnel. */
  join(client: Duplex, upstream: Socket): void;
  /** Sends the last bytes of a connection. */
  end(socket: Duplex, bytes: string): void;
  /** Called for each request, when its headers have been read. */
  onRequest(socket: Duplex): void;
}

/** Returns a server for plain requests and tunnels. It does not listen: pass it connections with `emit('connection', socket)`. */
export function createHttpForwarder(deps: HttpForwarderDeps): Server {
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX, noDelay: true });
  server.on('request', (request, response) => {
    deps.onRequest(request.socket);
    void forward(request, response, deps).catch((error: unknown) => refuse(response, error));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    deps.onRequest(socket);
    socket.on('error', () => socket.destroy());
    void tunnel(request, { socket, head }, deps).catch((error: unknown) => deps.end(socket, rawRefusal(error)));
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) deps.end(socket, rawRefusal(new ProxyRefusal('invalid', 'The request is not valid HTTP.')));
    else socket.destroy();
  });
  return server;
}

async function forward(request: IncomingMessage, response: ServerResponse, { open, isAuthorized }: HttpForwarderDeps): Promise<void> {
  requireCredential(isAuthorized(request.socket, request.headers['proxy-authorization']));
  const { target, path } = readTarget(request.url ?? '');
  const socket = await open(target, request.method ?? '');
  if (response.destroyed) {
    socket.destroy();
    return;
  }
  const upstream = sendRequest({
    createConnection: () => socket,
    method: request.method ?? '',
    path,
    headers: ['Host', authority(target), ...passedOn(request.rawHeaders), ...framing(request), 'Connection', 'close'],
  });
  response.once('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve);
    upstream.once('error', (error) => reject(new ProxyRefusal('unreachable', `${target.host} did not answer.`, { cause: error })));
    // Also when it answers with a change of the protocol, which nobody asked for.
    socket.once('close', () => reject(new ProxyRefusal('unreachable', `${target.host} gave no answer.`)));
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
  const upstream = await open({ ...wanted, protocol: 'https' }, null);
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  join(socket, upstream);
}

function requireCredential(isAuthorized: boolean): void {
  if (!isAuthorized) throw new ProxyRefusal('credential', 'This proxy belongs to another command.');
}

/** Reads the absolute URL of a plain request. The host is the one of the URL, whatever the header `Host` says. */
function readTarget(text: string): { target: NetworkTarget; path: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'http:') throw new ProxyRefusal('invalid', 'The proxy takes http URLs, and CONNECT for all others.');
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

/** A body in chunks stays in chunks. Without this, Node would send the body of a GET without its end, as if requests followed. */
function framing({ headers }: IncomingMessage): string[] {
  return headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
}

/** Returns the headers without those of one connection, which are also those that `Connection` names. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return pairs.filter(([name]) => !NOT_PASSED_ON.has(name.toLowerCase()) && !named.includes(name.toLowerCase())).flat();
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
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': String(Buffer.byteLength(text)) });
  return `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

function refusalOf(error: unknown): { status: number; headers: Record<string, string>; text: string } {
  const refusal = error instanceof ProxyRefusal ? error : new ProxyRefusal('unreachable', 'The request failed.');
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
