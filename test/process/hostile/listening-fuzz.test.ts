// @module-tag slow
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { afterShell } from '../support.ts';
import { connected, listeningServer, requestText, UPGRADE } from './listening-server.ts';
import { Random } from './random.ts';

/** A masked frame of a client. */
function frame(
  opcode: number,
  payload: string | Uint8Array = '',
  { isLast = true, isMasked = true, reserved = 0, length = null as number | null } = {},
): Buffer {
  const bytes = Buffer.from(payload as Uint8Array);
  const told = length ?? bytes.length;
  const mask = isMasked ? 0x80 : 0;
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const head =
    told < 126
      ? Buffer.from([first, mask | told])
      : told < 0x10000
        ? Buffer.from([first, mask | 126, told >> 8, told & 0xff])
        : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(told)]);
  // A key of zeros leaves the bytes as they are.
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), bytes]);
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** A close frame with a code. */
function close(code: number, reason = ''): Buffer {
  return frame(8, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]));
}

const ASK = JSON.stringify({ id: 1, method: 'no/such' });
const half = ASK.length / 2;

/** Bytes after the upgrade, and how the server answers: with a message, a pong, a close code. */
const CASES: Record<string, [Uint8Array[], string]> = {
  'a text': [[frame(1, ASK)], 'text'],
  'a text in two frames': [
    [frame(1, ASK.slice(0, half), { isLast: false }), frame(0, ASK.slice(half))],
    'text',
  ],
  'a ping between': [
    [frame(1, ASK.slice(0, half), { isLast: false }), frame(9, 'x'), frame(0, ASK.slice(half))],
    'pong text',
  ],
  'empty frames between': [
    [frame(1, '', { isLast: false }), frame(0, ASK, { isLast: false }), frame(0)],
    'text',
  ],
  'a ping': [[frame(9, 'hello')], 'pong'],
  'a pong that nobody asked for': [[frame(10, 'x'), frame(1, ASK)], 'text'],
  'a binary frame': [[frame(2, ASK), frame(9)], 'pong'],
  'no JSON': [[frame(1, '{'), frame(9)], 'pong'],
  'an empty text': [[frame(1), frame(9)], 'pong'],
  'two lines': [[frame(1, `${ASK}\n${ASK}`), frame(9)], 'pong'],
  'a long ping': [[frame(9, 'x'.repeat(126))], '1002'],
  'a ping in parts': [[frame(9, 'x', { isLast: false })], '1002'],
  'a frame without mask': [[frame(1, ASK, { isMasked: false })], '1002'],
  'a bit that nothing uses': [[frame(1, ASK, { reserved: 4 })], '1002'],
  'two bits that nothing uses': [[frame(1, ASK, { reserved: 3 })], '1002'],
  ...Object.fromEntries(
    [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((code) => [`opcode ${code}`, [[frame(code)], '1002']]),
  ),
  'a continuation of nothing': [[frame(0, ASK)], '1002'],
  'a text within a text': [[frame(1, '{', { isLast: false }), frame(1, ASK)], '1002'],
  'no UTF-8': [[frame(1, Buffer.from([0xc0, 0x80]))], '1007'],
  'half a surrogate': [[frame(1, Buffer.from([0xed, 0xa0, 0x80]))], '1007'],
  'UTF-8 that is cut off': [[frame(1, Buffer.from([0xe2, 0x82]))], '1007'],
  'UTF-8 in two frames': [
    [
      frame(1, Buffer.from([0x22, 0xe2, 0x82]), { isLast: false }),
      frame(0, Buffer.from([0xac, 0x22])),
      frame(9),
    ],
    'pong',
  ],
  'a frame that is too long': [[frame(1, '', { length: 33 * 1024 * 1024 })], '1009'],
  'a frame of 2^53 bytes': [[frame(1, '', { length: 2 ** 53 })], '1009'],
  'a close': [[frame(8)], '1005'],
  'a close with a code': [[close(1000)], '1000'],
  'a close for an application': [[close(3000, 'bye')], '3000'],
  'a close with half a code': [[frame(8, 'x')], '1002'],
  ...Object.fromEntries(
    [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535].map((code) => [
      `close code ${code}`,
      [[close(code)], '1002'],
    ]),
  ),
  'a close whose reason is no UTF-8': [[frame(8, Buffer.from([0x03, 0xe8, 0xc0, 0x80]))], '1007'],
  'a long close': [[close(1000, 'x'.repeat(124))], '1002'],
  'a text after a close': [[close(1000), frame(1, ASK)], '1000'],
  'more parts than a message has': [
    [frame(1, '"', { isLast: false }), ...Array(16_400).fill(frame(0, 'x', { isLast: false }))],
    '1008',
  ],
};

/** The frames of a server: `text`, `pong` or the code of a close. */
function framesIn(bytes: Buffer): string[] {
  const [first = 0, short = 0] = bytes;
  if (bytes.length < 2) return [];
  const from = short === 126 ? 4 : 2;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  const code = () => `${length < 2 ? 1005 : bytes.readUInt16BE(from)}`;
  const kinds: Record<number, () => string> = { 1: () => 'text', 8: code, 10: () => 'pong' };
  const kind = kinds[first & 0xf] ?? (() => `opcode ${first & 0xf}`);
  return [kind(), ...framesIn(bytes.subarray(from + length))];
}

/** A connection after its upgrade. */
async function upgraded(port: number): Promise<Socket> {
  const socket = await connected(port);
  socket.write(requestText(UPGRADE));
  await once(socket, 'data');
  return socket;
}

async function answerTo(port: number, frames: Uint8Array[], expected: string): Promise<string> {
  const socket = await upgraded(port);
  let answer = Buffer.alloc(0);
  const done = new Promise<void>((resolve) => {
    socket.on('data', (data: Buffer) => {
      answer = Buffer.concat([answer, data]);
      if (framesIn(answer).join(' ') === expected && !/\d/.test(expected)) resolve();
    });
    socket.once('close', () => resolve());
  });
  socket.write(Buffer.concat(frames));
  await done;
  socket.destroy();
  return framesIn(answer).join(' ');
}

/** A good client gets its answer. */
async function isServed(port: number): Promise<boolean> {
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(client, 'open');
  client.send(
    JSON.stringify({
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'x', version: '1' } },
    }),
  );
  const [answer] = await once(client, 'message');
  client.terminate();
  return JSON.parse(String(answer)).result !== undefined;
}

describe('frames', () => {
  test('are answered as RFC 6455 says', async () => {
    const { port } = await listeningServer();
    const answers: Record<string, string> = {};
    for (const [name, [frames, expected]] of Object.entries(CASES))
      answers[name] = await answerTo(port, frames, expected);
    expect(answers).toEqual(
      Object.fromEntries(Object.entries(CASES).map(([name, [, expected]]) => [name, expected])),
    );
    expect(await isServed(port)).toBe(true);
  });
});

const LINES = [
  'GET / HTTP/1.1',
  'GET / HTTP/1.1',
  'GET / HTTP/1.1',
  'GET / HTTP/1.0',
  'GET / HTTP/2.0',
  'POST / HTTP/1.1',
  'BREW / HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT x:1 HTTP/1.1',
  'GET http://x/ HTTP/1.1',
  `GET /${'x'.repeat(9_000)} HTTP/1.1`,
  'GET  HTTP/1.1',
  '\u0000',
  'PRI * HTTP/2.0\r\n\r\nSM',
];
const ODD = [
  'Host: 127.0.0.1',
  'Host: evil.example',
  'Origin: https://evil.example',
  'Upgrade: h2c',
  'Upgrade: websocket, h2c',
  'Connection: close',
  'Sec-WebSocket-Version: 8',
  'Sec-WebSocket-Version: 99999999999999999999',
  'Sec-WebSocket-Key: x',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
  'Sec-WebSocket-Extensions: ,;=',
  'Sec-WebSocket-Protocol: ,',
  'Sec-WebSocket-Protocol: a, b, a',
  'Content-Length: 5',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Authorization: Bearer x',
  `Cookie: ${'x'.repeat(20_000)}`,
  `X: ${'y'.repeat(7_000)}`,
  'no colon',
  ': no name',
  'Name\u0001: x',
];

/** A request for a web socket, more or less. */
function oddRequest(random: Random): Buffer {
  if (random.chance(0.5)) return Buffer.from(requestText(UPGRADE));
  const headers = UPGRADE.filter(() => random.chance(0.9));
  for (let count = random.below(4); count > 0; count--)
    headers.splice(random.below(headers.length + 1), 0, random.pick(ODD));
  const text = requestText(headers, random.pick(LINES));
  return Buffer.from(
    random.chance(0.1) ? text.slice(0, random.below(text.length)) : text,
    'latin1',
  );
}

const REQUESTS = [
  '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x","version":"1"}}}',
  '{"id":2,"method":"thread/list","params":{}}',
  '{"id":3,"method":"thread/start","params":{"ephemeral":true}}',
  '{"id":4,"result":{}}',
  '{"method":"initialized"}',
  '[]',
  'null',
  '{"id":{},"method":1}',
];

/** Frames, more or less. */
function oddFrame(random: Random): Uint8Array {
  const kinds: (() => Uint8Array)[] = [
    () => frame(1, random.pick(REQUESTS)),
    () => frame(1, random.pick(REQUESTS)),
    () => frame(random.below(16), 'x'.repeat(random.below(300))),
    () => frame(random.below(3), random.pick(REQUESTS), { isLast: random.chance(0.5) }),
    () => frame(1, 'x'.repeat(random.below(200_000))),
    () => frame(9, 'x'.repeat(random.below(126))),
    () => frame(1, '', { length: random.below(2 ** 31) }),
    () => close(random.below(6_000)),
    () =>
      frame(1, random.pick(REQUESTS), { isMasked: random.chance(0.5), reserved: random.below(8) }),
    () => Uint8Array.from({ length: random.below(400) }, () => random.below(256)),
  ];
  return random.pick(kinds)();
}

/** A connection, as soon as the server has accepted enough of those before. */
async function connectedSoon(at: number | string): Promise<Socket> {
  try {
    return await connected(at);
  } catch {
    await new Promise((resolve) => setImmediate(resolve));
    return connectedSoon(at);
  }
}

/** One client that does what it likes. Resolves when it is gone. */
async function oddClient(at: number | string, random: Random): Promise<void> {
  const socket = await connectedSoon(at);
  const gone = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  const bytes = Buffer.concat([
    oddRequest(random),
    ...Array.from({ length: random.below(8) }, () => oddFrame(random)),
  ]);
  for (let from = 0; from < bytes.length && socket.writable; ) {
    const size = random.chance(0.7) ? bytes.length : random.between(1, 200);
    socket.write(bytes.subarray(from, from + size));
    from += size;
    if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
  }
  const reset = () => (typeof at === 'number' ? socket.resetAndDestroy() : socket.destroy());
  const ends: (() => void)[] = [
    () => socket.end(),
    () => socket.destroy(),
    reset,
    () => socket.pause().end(),
    () => setImmediate(reset),
  ];
  random.pick(ends)();
  // The server need not answer what it does not understand.
  await Promise.race([gone, new Promise((resolve) => setImmediate(resolve))]);
  socket.destroy();
}

const MEMORY_MB_MAX = 100;
const CLIENTS = 500;
const AT_A_TIME = 50;

async function oddClients(at: number | string, seed: number): Promise<void> {
  for (let number = 0; number < CLIENTS; number += AT_A_TIME)
    await Promise.all(
      Array.from({ length: AT_A_TIME }, (_, index) =>
        oddClient(at, new Random(seed * CLIENTS + number + index)),
      ),
    );
}

describe('clients that send anything', () => {
  test.for(['port', 'socket'] as const)(
    'leave nothing behind, and others are served: %s',
    async (kind) => {
      const server = await listeningServer();
      const { heddle, port } = server;
      await oddClients(server[kind], 1);
      await heddle.atRest();
      const files = () => readdirSync(`/proc/${heddle.pid}/fd`).length;
      const before = { files: files(), memory: heddle.memory().now };
      await oddClients(server[kind], 2);
      expect(await isServed(port)).toBe(true);
      await vi.waitFor(() => expect(files()).toBeLessThanOrEqual(before.files), 10_000);
      expect(heddle.memory().now - before.memory).toBeLessThan(MEMORY_MB_MAX);
      expect(heddle.stderr.split('\n').filter((line) => line.includes('"level":50'))).toEqual([]);
    },
  );

  test('take no file from those that are connected', async () => {
    const server = await listeningServer({ through: afterShell('ulimit -n 96') });
    const good = new WebSocket(`ws://127.0.0.1:${server.port}`);
    await once(good, 'open');
    const others = await Promise.all(Array.from({ length: 200 }, () => connected(server.port)));
    for (const other of others) other.write('GET / HTTP/1.1\r\n');
    const { stdout } = await server.heddle.request('command/exec', {
      command: ['echo', 'served'],
      sandboxPolicy: { type: 'dangerFullAccess' },
    });
    good.send(ASK);
    const [answer] = await once(good, 'message');
    expect([stdout, JSON.parse(String(answer)).id]).toEqual(['served\n', 1]);
    for (const other of others) other.destroy();
    good.terminate();
    await vi.waitFor(async () => expect(await isServed(server.port)).toBe(true), 10_000);
  });
});
