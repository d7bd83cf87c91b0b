import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The token that tests connect with from the process that listens. */
export const TOKEN_HEADER = 'Authorization: Bearer abc';

/** The headers that make a request one for a web socket. */
export const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** Bytes to and from a server that listens at an address. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  #chunks: Buffer[] = [];
  #waiting: { enough: () => boolean; resolve: () => void }[] = [];

  constructor(address: string) {
    const { host, port, path } = partsOf(address);
    const socket = path === null ? connect(port, host) : connect(path);
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      this.#chunks.push(bytes);
      this.#waiting = this.#waiting.filter(({ enough, resolve }) => {
        const isEnough = enough();
        if (isEnough) resolve();
        return !isEnough;
      });
    });
    onTestFinished(() => void socket.destroy());
  }

  /** All that the server has sent. */
  get received(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  /** Resolves when so much has been received, or the server has closed the connection. */
  async until(enough: () => boolean): Promise<void> {
    if (enough()) return;
    const came = new Promise<void>((resolve) => this.#waiting.push({ enough, resolve }));
    await Promise.race([came, this.closed]);
  }

  /** Sends a request. Resolves with the status and the body of the answer. */
  async request(
    headers: readonly string[],
    { path = '/', method = 'GET' }: { path?: string; method?: string } = {},
  ): Promise<{ status: number; text: string }> {
    this.socket.write([`${method} ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
    await this.until(() => {
      const [head = '', body] = this.received.toString().split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      return body !== undefined && body.length >= length;
    });
    const [head = '', text = ''] = this.received.toString().split('\r\n\r\n');
    return { status: Number(/^HTTP\/1\.1 (\d+) /.exec(head)?.[1] ?? 0), text };
  }
}

function partsOf(address: string): { host: string; port: number; path: string | null } {
  if (address.startsWith('unix://'))
    return { host: '', port: 0, path: address.slice('unix://'.length) };
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), path: null };
}

/** The status and the body of the answer to a request for a web socket; 101: it was accepted. */
export function upgrade(
  address: string,
  headers: readonly string[] = ['Host: 127.0.0.1'],
): Promise<{ status: number; text: string }> {
  return new RawConnection(address).request([...headers, TOKEN_HEADER, ...UPGRADE]);
}
