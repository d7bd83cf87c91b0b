import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startEcho, startProxy, startWebServer } from './proxied.ts';

/** More than what the system's buffers of all connections hold. */
const BODY = Buffer.alloc(32_000_000, 'abcdefg');
/** The bytes that the proxy may hold of one connection, in both directions and at both ends. */
const HELD_BYTES_MAX = 256 * 1024;

function held(sockets: ReadonlySet<Socket>): number {
  return [...sockets].reduce(
    (sum, { readableLength, writableLength }) => sum + readableLength + writableLength,
    0,
  );
}

/** Waits until the proxy waits for a reader. */
function stalled(sockets: ReadonlySet<Socket>): Promise<void> {
  return vi.waitFor(
    () => expect([...sockets].some(({ writableNeedDrain }) => writableNeedDrain)).toBe(true),
    {
      timeout: 10_000,
      interval: 2,
    },
  );
}

/** A client that reads nothing yet. */
async function start(port: number, bytes: string | Buffer): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

describe('memory stays bounded', () => {
  test.each(['plain', 'tunnel', 'SOCKS5'])('when a client does not read: %s', async (kind) => {
    const web = await startWebServer((_request, response) => response.end(BODY));
    const { port, sockets } = await startProxy();
    const close = 'Host: a\r\nConnection: close\r\n\r\n';
    const first = {
      plain: `GET http://127.0.0.1:${web.port}/ HTTP/1.1\r\n${close}`,
      tunnel: `CONNECT 127.0.0.1:${web.port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n${close}`,
      SOCKS5: Buffer.concat([
        Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, web.port >> 8, web.port & 0xff]),
        Buffer.from(`GET / HTTP/1.1\r\n${close}`),
      ]),
    }[kind];
    const client = await start(port, first ?? '');
    await stalled(sockets);
    expect(held(sockets)).toBeLessThan(HELD_BYTES_MAX);
    let count = 0;
    client.on('data', (bytes) => {
      count += bytes.length;
      if (held(sockets) > HELD_BYTES_MAX) count = Number.NaN;
    });
    await once(client, 'end');
    expect(count).toBeGreaterThan(BODY.length);
    expect(count).toBeLessThan(BODY.length + 1000);
  });

  test.each(['plain', 'tunnel'])('when a host does not read: %s', async (kind) => {
    const hosts: Socket[] = [];
    const slow = await startEcho((socket) => void hosts.push(socket.pause()));
    const { port, sockets } = await startProxy();
    const head = {
      plain: `POST http://127.0.0.1:${slow.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n`,
      tunnel: `CONNECT 127.0.0.1:${slow.port} HTTP/1.1\r\n\r\n`,
    }[kind];
    const client = await start(port, head ?? '');
    client.write(BODY);
    await stalled(sockets);
    expect(held(sockets)).toBeLessThan(HELD_BYTES_MAX);
    const [host] = hosts;
    let count = 0;
    const whole = new Promise<void>((resolve) => {
      host?.on('data', (bytes) => {
        count += bytes.length;
        if (count >= BODY.length) resolve();
      });
      host?.resume();
    });
    await whole;
    expect(held(sockets)).toBeLessThan(HELD_BYTES_MAX);
  });

  test('while nobody has decided yet, nothing more is read', async () => {
    const { port, sockets, asked } = await startProxy({ decide: () => new Promise(() => {}) });
    for (const head of [
      'POST http://a.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 32000000\r\n\r\n',
      'CONNECT a.example:443 HTTP/1.1\r\n\r\n',
    ]) {
      (await start(port, head)).write(BODY);
    }
    await vi.waitFor(() => expect(asked).toHaveLength(2), { interval: 2, timeout: 30_000 });
    const read = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    let before = -1;
    await vi.waitFor(
      () => {
        const now = read();
        const settled = now === before;
        before = now;
        expect(settled).toBe(true);
      },
      { interval: 50 },
    );
    expect(read()).toBeLessThan(2 * HELD_BYTES_MAX);
    expect(held(sockets)).toBeLessThan(2 * HELD_BYTES_MAX);
  });
});
