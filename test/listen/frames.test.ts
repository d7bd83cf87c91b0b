import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { idOf } from '../support/counting-ids.ts';
import { message, response } from '../support/test-model.ts';
import { listeningServer, openListener, PORT } from './listening-server.ts';
import { RawConnection, TOKEN_HEADER, UPGRADE } from './raw-connection.ts';

const MEBIBYTE = 1024 * 1024;
const ADDRESSES = [PORT, 'unix://socket'];

const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const FINAL = 0x80;

/** A frame of a client. */
function frame(
  opcode: number,
  payload: string | Uint8Array = '',
  { isLast = true, isMasked = true }: { isLast?: boolean; isMasked?: boolean } = {},
): Buffer {
  const bytes = Buffer.from(payload as string);
  const length =
    bytes.length < 126
      ? [bytes.length]
      : bytes.length < 65_536
        ? [126, bytes.length >> 8, bytes.length & 0xff]
        : [127, ...Buffer.from(BigInt(bytes.length).toString(16).padStart(16, '0'), 'hex')];
  const [size = 0, ...more] = length;
  const head = Buffer.from([(isLast ? FINAL : 0) | opcode, (isMasked ? 0x80 : 0) | size, ...more]);
  if (!isMasked) return Buffer.concat([head, bytes]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

interface Frame {
  first: number;
  payload: Buffer;
}

/** The whole frames of a server in the bytes. */
function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1] ?? 0;
    const size = short === 126 ? 2 : short === 127 ? 8 : 0;
    const from = at + 2 + size;
    if (from > bytes.length) break;
    const length = size === 0 ? short : Number(`0x${bytes.toString('hex', at + 2, from)}`);
    if (from + length > bytes.length) break;
    frames.push({ first: bytes[at] ?? 0, payload: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return frames;
}

/** The bytes of a connection after the answer to its upgrade, as frames. */
class FrameConnection extends RawConnection {
  async open(): Promise<void> {
    await this.request(['Host: 127.0.0.1', TOKEN_HEADER, ...UPGRADE]);
  }

  get frames(): Frame[] {
    return framesIn(this.received.subarray(this.received.indexOf('\r\n\r\n') + 4));
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** The next whole frames. */
  async take(count: number): Promise<Frame[]> {
    await this.until(() => this.frames.length >= count);
    return this.frames;
  }
}

const INITIALIZE = JSON.stringify({
  id: 'é1',
  method: 'initialize',
  params: { clientInfo: { name: 'test', version: '1' } },
});

async function connected(address: string) {
  const server = await listeningServer(
    {},
    address === PORT ? PORT : `unix://${tempFolder()}/socket`,
  );
  const raw = new FrameConnection(server.address);
  await raw.open();
  return { server, raw };
}

/** The first frame is the answer to the handshake, whole. */
function expectAnswered([first]: Frame[]): void {
  expect(first?.first).toBe(FINAL | TEXT);
  expect(JSON.parse(String(first?.payload))).toMatchObject({ id: 'é1', result: {} });
}

test.each(ADDRESSES)('%s: a text frame is one message', async (address) => {
  const { raw } = await connected(address);
  raw.send(frame(TEXT, INITIALIZE));
  expectAnswered(await raw.take(1));
});

test('fragments are joined, wherever they are cut, with a ping between them', async () => {
  const { raw } = await connected(PORT);
  const bytes = Buffer.from(INITIALIZE);
  const cut = bytes.indexOf('é') + 1;
  const [one, rest, last] = [bytes.subarray(0, cut), bytes.subarray(cut, 40), bytes.subarray(40)];
  raw.send(frame(TEXT, one, { isLast: false }), frame(PING, 'are you there'));
  const [pong] = await raw.take(1);
  expect(pong).toEqual({ first: FINAL | PONG, payload: Buffer.from('are you there') });
  raw.send(frame(0, rest, { isLast: false }), frame(0, '', { isLast: false }), frame(0, last));
  expectAnswered((await raw.take(2)).slice(1));
});

test('a frame that comes byte by byte is whole in the end', async () => {
  const { raw } = await connected(PORT);
  raw.socket.setNoDelay(true);
  for (const byte of frame(TEXT, INITIALIZE)) {
    raw.socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expectAnswered(await raw.take(1));
});

test('what is no message is ignored, and told in the log', async () => {
  const { raw, server } = await connected(PORT);
  raw.send(
    frame(BINARY, INITIALIZE),
    frame(TEXT, '{"id":'),
    frame(TEXT, ''),
    frame(TEXT, `${INITIALIZE}\n${INITIALIZE}`),
    frame(TEXT, `[${INITIALIZE}]`),
    frame(TEXT, '5'),
    frame(TEXT, INITIALIZE),
  );
  expectAnswered(await raw.take(1));
  expect(raw.frames).toHaveLength(1);
  expect(server.log.warnings().length).toBeGreaterThanOrEqual(5);
});

test.each<[string, () => Buffer, number]>([
  ['bytes that are no UTF-8', () => frame(TEXT, Buffer.from([0xc3, 0x28])), 1007],
  ['half a character', () => frame(TEXT, Buffer.from('é').subarray(0, 1)), 1007],
  ['a frame without a mask', () => frame(TEXT, INITIALIZE, { isMasked: false }), 1002],
  ['an opcode that there is not', () => frame(0x3, 'x'), 1002],
  ['a reserved bit', () => frame(0x40 | TEXT, 'x'), 1002],
  ['a fragment of nothing', () => frame(0, 'x'), 1002],
  ['a ping in fragments', () => frame(PING, 'x', { isLast: false }), 1002],
  ['a long ping', () => frame(PING, 'x'.repeat(126)), 1002],
  // Only the length comes.
  ['a message of a terabyte', () => Buffer.from('81ff0000010000000000', 'hex'), 1009],
  ['a message of more than 2^53 bytes', () => Buffer.from('81ffffffffffffffffff', 'hex'), 1009],
])('%s: closes the connection, and no other', async (_, bytes, code) => {
  const { raw, server } = await connected(PORT);
  raw.send(bytes());
  await raw.closed;
  const [close] = raw.frames;
  expect({ first: close?.first, code: close?.payload.readUInt16BE() }).toEqual({
    first: FINAL | CLOSE,
    code,
  });
  await (await server.join()).request('account/read', {});
});

test('a client closes the connection, and its close is answered', async () => {
  const { raw } = await connected(PORT);
  raw.send(frame(CLOSE, Buffer.from([0x03, 0xe8])));
  await raw.closed;
  expect(raw.frames).toEqual([{ first: FINAL | CLOSE, payload: Buffer.from([0x03, 0xe8]) }]);
});

test('the end of a server closes connections with 1001, or drops those that are no web sockets yet', async () => {
  const server = await listeningServer();
  const client = await server.join();
  await server.close();
  expect(await client.closed).toEqual({ code: 1001, reason: '' });
  const { address, listeners } = await openListener(PORT);
  const raw = new RawConnection(address);
  await new Promise((resolve) => raw.socket.once('connect', resolve));
  listeners.close();
  await raw.closed;
  expect(raw.received).toHaveLength(0);
});

test.each(ADDRESSES)(
  '%s: an answer of more than 16 MiB comes whole, in frames of at most so many bytes',
  async (address) => {
    const text = `${'ä'.repeat(9 * MEBIBYTE)}!`;
    const { server, raw } = await connected(address);
    server.model.push(response(message(text)));
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'hi');
    const read = { threadId: idOf(1), includeTurns: true };
    raw.send(
      frame(TEXT, INITIALIZE),
      frame(TEXT, JSON.stringify({ id: 2, method: 'thread/read', params: read })),
    );
    const isLast = ({ first }: Frame) => (first & FINAL) !== 0;
    await raw.until(
      () => raw.socket.bytesRead > 18 * MEBIBYTE && raw.frames.filter(isLast).length >= 2,
    );
    const [, ...long] = raw.frames;
    expect(long.map(({ first }) => first)).toEqual([TEXT, FINAL]);
    expect(long.map(({ payload }) => payload.length > 16 * MEBIBYTE)).toEqual([false, false]);
    const whole = JSON.parse(Buffer.concat(long.map(({ payload }) => payload)).toString());
    const [, agent] = whole.result.thread.turns[0].items;
    const hash = (value: string) => createHash('sha256').update(value).digest('hex');
    expect(hash(agent.text)).toBe(hash(text));
  },
);
