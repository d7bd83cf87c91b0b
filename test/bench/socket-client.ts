import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];
/** The lengths of a frame that stand for a longer form. */
const BITS_16 = 126;
const BITS_64 = 127;
/** The server's pings have no bytes. */
const PING = 0x89;
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/**
 * A client on a web socket that does as little as it can with what it reads, so that many of them
 * fit into one process. Its masks are zeros.
 */
export class SocketClient {
  /** Called with the payload of each frame. */
  onFrame: (payload: Buffer) => void = () => {};
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #requests = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `at`: a port of this machine, or the path of a socket. */
  static async connect(at: number | string): Promise<SocketClient> {
    const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.write(`${UPGRADE.join('\r\n')}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    if (!String(answer).includes(' 101 ')) throw new Error(String(answer));
    const client = new SocketClient(socket);
    socket.on('data', (chunk: Buffer) => client.#read(chunk));
    return client;
  }

  /** Whether the server has closed the connection. */
  get isClosed(): boolean {
    return this.#socket.closed;
  }

  initialize(): Promise<Buffer> {
    return this.request('initialize', {
      clientInfo: { name: 'bench', version: '1' },
      capabilities: { experimentalApi: true },
    });
  }

  /** Resolves with the answer when its last byte has arrived. */
  request(method: string, params: unknown): Promise<Buffer> {
    const id = ++this.#requests;
    const answered = this.next(`{"id":${id},`);
    this.#send(JSON.stringify({ id, method, params }));
    return answered;
  }

  /** The next message that begins with this text. */
  next(start: string): Promise<Buffer> {
    const before = this.onFrame;
    const wanted = Buffer.from(start);
    return new Promise((resolve) => {
      this.onFrame = (payload) => {
        before(payload);
        if (!payload.subarray(0, wanted.length).equals(wanted)) return;
        this.onFrame = before;
        resolve(payload);
      };
    });
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(text: string): void {
    const payload = Buffer.from(text);
    const isShort = payload.length < BITS_16;
    const head = Buffer.from([0x81, 0x80 | (isShort ? payload.length : BITS_16)]);
    const length = Buffer.alloc(isShort ? 0 : 2);
    if (!isShort) length.writeUInt16BE(payload.length);
    this.#socket.write(Buffer.concat([head, length, Buffer.alloc(4), payload]));
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = endOf(bytes); end !== null && end.to <= bytes.length; end = endOf(bytes)) {
      if (bytes[0] === PING) this.#socket.write(PONG);
      this.onFrame(bytes.subarray(end.from, end.to));
      bytes = bytes.subarray(end.to);
    }
    this.#rest = bytes;
  }
}

/** Where the payload of the first frame is. Null: its header is not whole. */
function endOf(bytes: Buffer): { from: number; to: number } | null {
  const short = bytes[1];
  if (short === undefined) return null;
  const from = short === BITS_16 ? 4 : short === BITS_64 ? 10 : 2;
  if (bytes.length < from) return null;
  if (short < BITS_16) return { from, to: from + short };
  const length = short === BITS_16 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { from, to: from + length };
}
