import type { ClientRequestArgs } from 'node:http';
import { Agent, type AgentOptions } from 'node:https';
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { PROXY_REFUSED, proxyAddress, proxyHeaders } from './proxy-for.ts';

/** Longer answers to CONNECT are refused. */
const HEAD_BYTES_MAX = 16 * 1024;
const HEAD_END = '\r\n\r\n';

interface TunnelOptions {
  /** An http or https URL. */
  proxy: URL;
  lookup: LookupFunction | undefined;
}

/**
 * A request's own signal: when it aborts, the request's connection is given up, if it is not open
 * yet.
 */
export interface TunnelRequest {
  until: AbortSignal;
}

/**
 * Connects to hosts through an HTTP proxy, by CONNECT, and then with TLS. A request gets its
 * connection after the handshake.
 */
export class TunnelAgent extends Agent {
  readonly #tunnel: TunnelOptions;

  constructor(options: AgentOptions, tunnel: TunnelOptions) {
    super(options);
    this.#tunnel = tunnel;
  }

  override createConnection(
    options: ClientRequestArgs & Partial<TunnelRequest>,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    this.#connect(options).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, undefined as never),
    );
  }

  async #connect({
    until,
    ...options
  }: ClientRequestArgs & Partial<TunnelRequest>): Promise<Duplex> {
    const socket = this.#connectToProxy();
    const giveUp = () => void socket.destroy(new Error('the request has ended'));
    until?.addEventListener('abort', giveUp);
    try {
      await this.#openTunnel(socket, `${options.host ?? ''}`, options.port);
      const secure = connectTls({ ...(options as ConnectionOptions), socket });
      await settled(secure, 'secureConnect');
      return secure;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      until?.removeEventListener('abort', giveUp);
    }
  }

  #connectToProxy(): Socket {
    const { proxy, lookup } = this.#tunnel;
    const address = { ...proxyAddress(proxy), ...(lookup && { lookup }), keepAlive: true };
    const { secureContext } = this.options;
    const socket =
      proxy.protocol === 'https:'
        ? connectTls({ ...address, ...(secureContext && { secureContext }) })
        : connectTcp(address);
    // Its errors reach the code that waits for it; later ones are those of the connection through
    // it.
    socket.on('error', () => {});
    return socket;
  }

  async #openTunnel(socket: Socket, host: string, port: ClientRequestArgs['port']): Promise<void> {
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const headers = { host: target, ...proxyHeaders(this.#tunnel.proxy) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`CONNECT ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    const status = /^HTTP\/1\.\d (\d{3})\b/.exec(await headOf(socket))?.[1];
    if (status === undefined) throw refusal('something that is not HTTP');
    if (!status.startsWith('2')) throw refusal(`HTTP ${status}`, status);
  }
}

function refusal(answer: string, status = ''): NodeJS.ErrnoException {
  return Object.assign(new Error(`the proxy did not connect to it, and answered ${answer}`), {
    code: `${PROXY_REFUSED}${status}`,
  });
}

/** Resolves with the head of the answer. What follows it stays in the socket. */
async function headOf(socket: Socket): Promise<string> {
  let head = Buffer.alloc(0);
  for (;;) {
    const part = socket.read() as Buffer | null;
    if (part === null) {
      await settled(socket, 'readable');
      continue;
    }
    head = Buffer.concat([head, part]);
    const end = head.indexOf(HEAD_END);
    if (end !== -1) {
      const rest = head.subarray(end + HEAD_END.length);
      if (rest.length > 0) socket.unshift(rest);
      return head.subarray(0, end).toString('latin1');
    }
    if (head.length > HEAD_BYTES_MAX)
      throw refusal(`more than ${HEAD_BYTES_MAX / 1024} KiB of headers`);
  }
}

/** Resolves at this event. Rejects if the socket fails or closes before. */
function settled(socket: Socket, event: 'readable' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () => done(new Error('the connection was closed before it was ready'));
    const happened = () => done(null);
    const done = (error: Error | null) => {
      socket.off(event, happened).off('error', done).off('close', closed);
      if (error === null) resolve();
      else reject(error);
    };
    socket.on(event, happened).on('error', done).on('close', closed);
  });
}
