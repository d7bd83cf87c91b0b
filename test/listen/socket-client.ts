import { createInterface } from 'node:readline';
import WebSocket, { type ClientOptions } from 'ws';
import { TestClient } from '../support/test-client.ts';

/** How a connection was closed. */
export interface Closed {
  code: number;
  reason: string;
}

/** A client on a web socket. */
export class SocketClient extends TestClient {
  readonly socket: WebSocket;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<Closed>;
  /** Resolves when the connection is open. Rejects if the server refuses it. */
  readonly opened: Promise<void>;

  /** `address`: as the server names it. */
  constructor(address: string, options: ClientOptions = {}) {
    const socket = new WebSocket(urlOf(address), { perMessageDeflate: false, ...options });
    const closed = new Promise<Closed>((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
    super(closed.then(({ code }) => `the server has closed the connection (${code})`));
    this.socket = socket;
    this.closed = closed;
    this.ended = closed.then(() => {});
    this.opened = new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    socket.on('error', () => {});
    socket.on('message', (data) => this.output.write(`${data}\n`));
    const lines = createInterface({ input: this.input });
    lines.on('line', (line) => void this.opened.then(() => socket.send(line)));
    lines.on('close', () => socket.close());
    this.read();
  }
}

/** The URL that `ws` needs for an address of a server. */
function urlOf(address: string): string {
  return address.startsWith('unix://') ? `ws+unix://${address.slice('unix://'.length)}:/` : address;
}

/** A client that has shaken hands. */
export async function socketClient(
  address: string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const client = new SocketClient(address, options);
  await client.opened;
  await client.initialize();
  return client;
}
