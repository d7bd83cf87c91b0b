import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orAborted } from '../../src/base/or-aborted.ts';
import type { CommandProxyDeps } from '../../src/network/command-proxy.ts';
import { ProxyRefusal } from '../../src/network/proxy-refusal.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  allowsNone,
  exchange,
  LOCAL,
  request,
  startEcho,
  startProxy,
  startWebServer,
} from './proxied.ts';

function get(url: string, headers = ''): string {
  return `GET ${url} HTTP/1.1\r\nHost: ignored.example\r\nConnection: close\r\n${headers}\r\n`;
}

function socks(host: string, port: number): Buffer {
  return Buffer.concat([
    Buffer.from([5, 1, 0, 5, 1, 0, 3, host.length]),
    Buffer.from(host, 'latin1'),
    Buffer.from([port >> 8, port & 0xff]),
  ]);
}

describe('a plain request', () => {
  test('reaches the host of its URL, whatever its header Host says', async () => {
    const web = await startWebServer();
    const { port, asked } = await startProxy();
    const answer = String(await request(port, get(`http://127.0.0.1:${web.port}/a?b=c`)));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain(`GET /a?b=c 127.0.0.1:${web.port} `);
    expect(asked).toEqual([
      { target: { host: '127.0.0.1', port: web.port, protocol: 'http' }, method: 'GET' },
    ]);
  });

  test('passes its body on, but no header of this connection', async () => {
    const seen: unknown[] = [];
    const web = await startWebServer((request, response) => {
      seen.push(request.headers);
      request.resume().on('end', () => response.end('done'));
    });
    const { port } = await startProxy();
    const lines = [
      'Proxy-Authorization: Basic eDp5',
      'Proxy-Connection: keep-alive',
      'Connection: x-own, close',
      'X-Own: 1',
      'X-Kept: 2',
      'Content-Length: 4',
    ];
    const answer = await request(
      port,
      `POST http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n`,
      'body',
    );
    expect(String(answer)).toContain('done');
    expect(seen).toEqual([
      { host: `127.0.0.1:${web.port}`, 'x-kept': '2', 'content-length': '4', connection: 'close' },
    ]);
  });

  test('that is redirected is a new request, which is decided about again', async () => {
    const web = await startWebServer((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const { port, asked } = await startProxy({
      decide: async ({ target }) => (target.host === '127.0.0.1' ? LOCAL : ['public']),
    });
    const answer = String(await request(port, get(`http://127.0.0.1:${web.port}/`)));
    expect(answer).toMatch(/^HTTP\/1\.1 302 /);
    expect(asked).toHaveLength(1);
    const followed = String(await request(port, get('http://169.254.169.254/')));
    expect(followed).toMatch(/^HTTP\/1\.1 403 .*x-proxy-error: blocked-by-policy\r\n/is);
    expect(asked).toHaveLength(2);
  });

  test('that is refused gets a 403 with the reason', async () => {
    const { port } = await startProxy({ decide: allowsNone });
    const answer = String(await request(port, get('http://a.example/')));
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toMatch(/x-proxy-error: blocked-by-allowlist\r\n/i);
    expect(answer).toMatch(/heddle: Nothing allows it\.\n/);
  });

  test.each([
    '/',
    'https://a.example/',
    'ftp://a.example/',
    'http://user@a.example/',
    'http://a..b/',
    'http://%00/',
    'http://a!b/',
  ])('for %s is invalid', async (url) => {
    const { port, asked } = await startProxy();
    expect(String(await request(port, get(url)))).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
  });
});

describe('a tunnel', () => {
  test('carries all bytes in both directions, and ends with its two ends', async () => {
    const echo = await startEcho();
    const { port, asked } = await startProxy();
    const body = Buffer.alloc(3_000_000, 'abc');
    const answer = await exchange(port, `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`, body);
    const head = 'HTTP/1.1 200 Connection Established\r\n\r\n';
    expect(String(answer.subarray(0, head.length))).toBe(head);
    expect(answer.subarray(head.length).equals(body)).toBe(true);
    expect(asked).toEqual([
      { target: { host: '127.0.0.1', port: echo.port, protocol: 'https' }, method: null },
    ]);
  });

  test('to another port of the same host is decided about by its port', async () => {
    const echo = await startEcho();
    const decide: CommandProxyDeps['decide'] = async ({ target }, signal) =>
      target.port === 443 ? LOCAL : allowsNone({ target, method: null }, signal);
    const { port } = await startProxy({ decide });
    expect(String(await exchange(port, `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`))).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(echo.sockets.size).toBe(0);
  });

  test.each([
    'a.example',
    'a.example:0',
    'a.example:99999',
    '::1:443',
    'a b:443',
    'user@a.example:443',
  ])('to %j is invalid', async (target) => {
    const { port, asked } = await startProxy();
    expect(String(await exchange(port, `CONNECT ${target} HTTP/1.1\r\n\r\n`))).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(asked).toEqual([]);
  });
});

describe('SOCKS5', () => {
  const GRANTED = Buffer.from([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

  test('carries bytes, however its handshake is cut', async () => {
    const echo = await startEcho();
    const { port, asked } = await startProxy({ resolve: async () => ['127.0.0.1'] });
    const bytes = Buffer.concat([socks('Name.Example.', echo.port), Buffer.from('hello')]);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(await exchange(port, bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(
        Buffer.concat([GRANTED, Buffer.from('hello')]),
      );
    }
    expect(new Set(asked.map(({ target }) => JSON.stringify(target)))).toEqual(
      new Set([JSON.stringify({ host: 'name.example', port: echo.port, protocol: 'socks5Tcp' })]),
    );
  });

  test.each([
    ['a name with NUL', socks('a\0.example', 80), [5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]],
    ['an empty name', socks('', 80), [5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]],
    ['port 0', socks('a.example', 0), [5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]],
    [
      'BIND',
      Buffer.from([5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80]),
      [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
    [
      'UDP',
      Buffer.from([5, 1, 0, 5, 3, 0, 1, 1, 1, 1, 1, 0, 80]),
      [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
    [
      'another type of address',
      Buffer.from([5, 1, 0, 5, 1, 0, 9, 1]),
      [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
    ['no method that it takes', Buffer.from([5, 1, 2]), [5, 255]],
  ])('refuses %s', async (_what, bytes, reply) => {
    const { port, asked } = await startProxy();
    expect([...(await exchange(port, bytes))]).toEqual(reply);
    expect(asked).toEqual([]);
  });

  test('refuses by policy with its own code, and is absent if it is off', async () => {
    const { port } = await startProxy({ decide: allowsNone });
    expect([...(await exchange(port, socks('a.example', 80)))]).toEqual([
      5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0,
    ]);
    const off = await startProxy({ socks: false });
    expect([...(await exchange(off.port, socks('a.example', 80)))]).toEqual([]);
  });
});

describe('while a decision is open, the signal aborts when the client is gone:', () => {
  const CONNECT = 'CONNECT a.example:443 HTTP/1.1\r\n\r\n';
  const SOCKS = Buffer.from([5, 1, 0, 5, 1, 0, 1, 8, 8, 8, 8, 0, 80]);
  test.each([
    ['a tunnel', CONNECT],
    ['SOCKS5', SOCKS],
    ['a request', 'GET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    const signals: AbortSignal[] = [];
    const { port } = await startProxy({
      decide: (_request, signal) => {
        signals.push(signal);
        return orAborted(new Promise<never>(() => {}), signal).then(() =>
          Promise.reject(new ProxyRefusal('busy', 'gone')),
        );
      },
    });
    const [stays, goes] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    onTestFinished(() => void stays.destroy());
    for (const socket of [stays, goes]) socket.write(bytes);
    await expect.poll(() => signals.length).toBe(2);
    goes.destroy();
    await expect.poll(() => signals.filter(({ aborted }) => aborted).length).toBe(1);
    expect(stays.closed).toBe(false);
  });
});

describe('a name', () => {
  test('is resolved once, and the connection goes to the address that was checked', async () => {
    const echo = await startEcho();
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const { port } = await startProxy({ resolve: async () => answers.shift() ?? [] });
    expect(
      String(await exchange(port, `CONNECT a.example:${echo.port} HTTP/1.1\r\n\r\n`, 'x')),
    ).toMatch(/x$/);
    expect(answers).toEqual([['127.0.0.2']]);
  });

  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['169.254.169.254']],
    [['fe80::1%eth0']],
    [['203.0.113.9']],
  ])('that leads to %j is refused', async (addresses) => {
    const { port } = await startProxy({
      decide: async () => ['public'],
      resolve: async () => addresses,
    });
    expect(String(await exchange(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 403 .*local address/s,
    );
  });

  test.each([
    ['8.8.8.8', '8.8.8.8'],
    ['::ffff:8.8.8.8', '8.8.8.8'],
    ['8.8.8.8', '::FFFF:808:808'],
    ['2606:4700:0:0::1', '2606:4700::1'],
  ])(
    'that leads to a public address of this machine is refused, too: %s, which is %s',
    async (found, own) => {
      // The second address is always refused, so nothing is ever connected.
      const resolve = async () => [found, '127.0.0.1'];
      const { port } = await startProxy({
        decide: async () => ['public'],
        resolve,
        ownAddresses: () => [own],
      });
      const answer = String(await exchange(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'));
      expect(answer).toContain('a.example leads to the local address');
      expect(answer).not.toContain('127.0.0.1');
    },
  );

  test('is compared with the addresses that this machine had a second ago at most', async () => {
    const clock = new FakeClock();
    let looks = 0;
    const own: string[] = [];
    const { port } = await startProxy({
      clock,
      decide: async () => ['public'],
      resolve: async () => ['203.1.2.3', '127.0.0.1'],
      ownAddresses: () => {
        looks++;
        return own;
      },
    });
    const target = 'CONNECT a.example:443 HTTP/1.1\r\n\r\n';
    for (let count = 0; count < 3; count++)
      expect(String(await exchange(port, target))).toContain('127.0.0.1');
    expect(looks).toBe(1);
    own.push('203.1.2.3');
    clock.advance(1_001);
    expect(String(await exchange(port, target))).toContain('the local address 203.1.2.3');
  });

  test('that has no address is an error of the gateway', async () => {
    const { port } = await startProxy({ resolve: async () => [] });
    expect(String(await exchange(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 502 /,
    );
    const closed = await startProxy();
    expect(String(await exchange(closed.port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 502 /,
    );
  });
});

describe('a credential', () => {
  const basic = (text: string) =>
    `Proxy-Authorization: Basic ${Buffer.from(text).toString('base64')}\r\n`;

  test('is needed for requests and tunnels', async () => {
    const web = await startWebServer();
    const { port, asked } = await startProxy({ credential: 'secret' });
    for (const header of [
      '',
      basic('heddle:other'),
      basic('x:secret'),
      'Proxy-Authorization: secret\r\n',
    ]) {
      expect(String(await request(port, get(`http://127.0.0.1:${web.port}/`, header)))).toMatch(
        /^HTTP\/1\.1 407 /,
      );
      expect(
        String(await exchange(port, `CONNECT 127.0.0.1:${web.port} HTTP/1.1\r\n${header}\r\n`)),
      ).toMatch(/^HTTP\/1\.1 407 /);
    }
    expect(asked).toEqual([]);
    expect(
      String(await request(port, get(`http://127.0.0.1:${web.port}/`, basic('heddle:secret')))),
    ).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is needed for SOCKS5', async () => {
    const echo = await startEcho();
    const { port } = await startProxy({ credential: 'secret', resolve: async () => ['127.0.0.1'] });
    const login = (password: string) =>
      Buffer.concat([
        Buffer.from([5, 1, 2, 1, 6]),
        Buffer.from('heddle'),
        Buffer.from([password.length]),
        Buffer.from(password),
      ]);
    expect([...(await exchange(port, socks('a.example', echo.port)))]).toEqual([5, 255]);
    expect([
      ...(await exchange(port, login('wrong'), socks('a.example', echo.port).subarray(3))),
    ]).toEqual([5, 2, 1, 1]);
    expect(
      [...(await exchange(port, login('secret'), socks('a.example', echo.port).subarray(3)))].slice(
        0,
        6,
      ),
    ).toEqual([5, 2, 1, 0, 5, 0]);
  });
});

describe('limits and ends', () => {
  test('a connection that does not say what it wants is closed', async () => {
    const clock = new FakeClock();
    const { port } = await startProxy({ clock });
    for (const bytes of ['', 'GET http://a.example/ HTTP/1.1\r\n', Buffer.from([5, 1])]) {
      const waited = clock.timerOf(10_000);
      const socket = connect({ port, host: '127.0.0.1' });
      onTestFinished(() => void socket.destroy());
      await new Promise((resolve) => socket.write(bytes, resolve));
      socket.on('error', () => {});
      const closed = new Promise((resolve) => socket.resume().once('close', resolve));
      await waited;
      clock.advance(10_000);
      await closed;
    }
  });

  test('a tunnel on which nothing moves for ten minutes is closed', async () => {
    const clock = new FakeClock();
    const echo = await startEcho();
    const { port, sockets } = await startProxy({ clock });
    const client = connect({ port, host: '127.0.0.1' });
    onTestFinished(() => void client.destroy());
    client.write(`CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`);
    await once(client, 'data');
    clock.advance(599_999);
    client.write('still here');
    await once(client, 'data');
    clock.advance(1);
    expect(sockets.size).toBe(2);
    const closed = once(client.on('error', () => {}).resume(), 'close');
    clock.advance(600_000);
    await closed;
  });

  test('a client that does not read, or does not complete its next request, is closed after ten minutes, one that waits for a decision is not', async () => {
    const clock = new FakeClock();
    const { port: web } = await startWebServer();
    const { port, asked, sockets } = await startProxy({
      clock,
      decide: ({ target }) =>
        target.host === '127.0.0.1' ? Promise.resolve(LOCAL) : new Promise(() => {}),
    });
    const [half, waits] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of [half, waits]) onTestFinished(() => void socket.destroy());
    half.write(`GET http://127.0.0.1:${web}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(half, 'data');
    half.write('GET http://');
    waits.write('CONNECT a.example:443 HTTP/1.1\r\n\r\n');
    await expect.poll(() => [asked.length, sockets.size]).toEqual([2, 2]);
    const closed = once(half.on('error', () => {}).resume(), 'close');
    // The first look sees the bytes that have moved before it.
    clock.advance(660_000);
    await closed;
    await expect.poll(() => sockets.size).toBe(1);
    clock.advance(6_000_000);
    expect(waits.closed).toBe(false);
    expect(sockets.size).toBe(1);
  });

  test('a name that is not resolved in time is an error of the gateway', async () => {
    const clock = new FakeClock();
    const { port } = await startProxy({ clock, resolve: () => new Promise(() => {}) });
    const dialed = clock.timerOf(30_000);
    const answer = exchange(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n');
    await dialed;
    clock.advance(30_000);
    expect(String(await answer)).toMatch(/^HTTP\/1\.1 504 /);
  });

  test('closing the proxy ends connections, and aborts what waits for a decision', async () => {
    const echo = await startEcho();
    let aborted = false;
    let waits = () => {};
    const waiting = new Promise<void>((resolve) => {
      waits = resolve;
    });
    const { proxy, port } = await startProxy({
      decide: async ({ target }, signal) => {
        if (target.host === '127.0.0.1') return LOCAL;
        waits();
        await once(signal, 'abort');
        aborted = true;
        throw new ProxyRefusal('declined', 'The command has ended.');
      },
    });
    const open = connect({ port, host: '127.0.0.1' });
    open.write(`CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n\r\n`);
    await once(open, 'data');
    const undecided = exchange(port, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n');
    await waiting;
    const ended = once(open, 'close');
    proxy.close();
    await ended;
    await undecided;
    expect(aborted).toBe(true);
    expect([...(await request(port, get('http://a.example/')))]).toEqual([]);
  });

  test('no bytes stop the proxy (seeded)', async () => {
    const web = await startWebServer();
    const { port } = await startProxy({ decide: allowsNone });
    const pieces = fc.constantFrom(
      'GET ',
      'CONNECT ',
      'http://',
      'a.example',
      ':443',
      ' HTTP/1.1\r\n',
      '\r\n',
      'Host: a',
      '\0',
      '\x05',
      '\x01',
      '\x00\x03',
      '\xff',
      'Content-Length: -1',
    );
    const bytes = fc
      .array(pieces, { maxLength: 10 })
      .map((list) => Buffer.from(list.join(''), 'latin1'));
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        await exchange(port, sent);
      }),
      { seed: 11, numRuns: 200 },
    );
    const after = await startProxy();
    expect(String(await request(after.port, get(`http://127.0.0.1:${web.port}/`)))).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect(String(await request(port, get('http://a.example/')))).toMatch(/^HTTP\/1\.1 403 /);
  });
});
