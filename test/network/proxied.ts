import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { checkedDial, type DialDeps } from '../../src/network/checked-dial.ts';
import {
  CommandProxy,
  type CommandProxyDeps,
  type ProxyRequest,
} from '../../src/network/command-proxy.ts';
import { ProxyRefusal } from '../../src/network/proxy-refusal.ts';
import { SocketBudget } from '../../src/network/socket-budget.ts';
import type { AddressKind } from '../../src/policy/network/address-kind.ts';
import { RecordingLog } from '../support/recording-log.ts';

/** Kinds of addresses that include this machine. */
export const LOCAL: readonly AddressKind[] = ['public', 'private'];

interface ProxyOptions
  extends Partial<Pick<CommandProxyDeps, 'decide' | 'socks' | 'clock' | 'budget'>>,
    Partial<Omit<DialDeps, 'clock'>> {
  credential?: string | null;
  /** Called with each connection to a host. */
  connected?: (socket: Socket) => void;
}

/**
 * A proxy on a port of this machine. It notes what it was asked for, and the open sockets of both
 * its sides; and by default allows everything, also local addresses.
 */
export async function startProxy({
  decide,
  credential = null,
  socks = true,
  clock = systemClock,
  connected,
  budget = new SocketBudget(),
  ...dial
}: ProxyOptions = {}) {
  const asked: ProxyRequest[] = [];
  const log = new RecordingLog();
  const connect = checkedDial({ clock, ...dial });
  const proxy = new CommandProxy({
    clock,
    log,
    async dial(...args) {
      const socket = keep(await connect(...args));
      connected?.(socket);
      return socket;
    },
    socks,
    budget,
    async decide(request, signal) {
      asked.push(request);
      return decide === undefined ? LOCAL : decide(request, signal);
    },
  });
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    proxy.serve(keep(socket), credential),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    proxy.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { proxy, port, asked, log, sockets };
}

/**
 * A web server on a port of this machine. By default it answers with the request's first line, host
 * and body.
 */
export async function startWebServer(listener: RequestListener = echo): Promise<{ port: number }> {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port };
}

const echo: RequestListener = (request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () =>
    response.end(
      `${request.method} ${request.url} ${request.headers.host} ${Buffer.concat(parts).toString()}`,
    ),
  );
};

/** A server on a port of this machine. By default it sends back what it gets. */
export async function startEcho(
  serve = (socket: Socket): void => void socket.pipe(socket),
): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** Sends bytes and ends; returns all that comes back. With `parts`, each is sent by itself. */
export function exchange(port: number, ...parts: (string | Buffer)[]): Promise<Buffer> {
  return converse(port, parts, true);
}

/** Sends bytes, and returns all that comes back until the other side ends. */
export function request(port: number, ...parts: (string | Buffer)[]): Promise<Buffer> {
  return converse(port, parts, false);
}

async function converse(
  port: number,
  parts: readonly (string | Buffer)[],
  ends: boolean,
): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  if (ends) socket.end();
  if (!socket.closed) await once(socket, 'close').catch(() => {});
  return Buffer.concat(received);
}

/** Decides about the requests of a proxy: allows none. */
export const allowsNone: CommandProxyDeps['decide'] = async () => {
  throw new ProxyRefusal('notAllowed', 'Nothing allows it.');
};
