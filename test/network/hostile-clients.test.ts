import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CommandProxyDeps } from '../../src/network/command-proxy.ts';
import { ProxyRefusal } from '../../src/network/proxy-refusal.ts';
import { SocketBudget } from '../../src/network/socket-budget.ts';
import { judgeTarget } from '../../src/policy/network/judge-target.ts';
import type { NetworkPolicy } from '../../src/policy/network/network-policy.ts';
import { readHost } from '../../src/policy/network/read-host.ts';
import {
  allowsNone,
  exchange,
  LOCAL,
  request,
  startEcho,
  startProxy,
  startWebServer,
} from './proxied.ts';

/** Allows all public hosts. */
const OPEN: NetworkPolicy = {
  mode: 'full',
  domains: [{ pattern: { type: 'all' }, access: 'allow' }],
  allowsPrivate: false,
  socks: true,
};

function byPolicy(policy: NetworkPolicy): CommandProxyDeps['decide'] {
  return async ({ target, method }) => {
    const situation = {
      policy,
      approvalPolicy: 'never' as const,
      rules: [],
      hasProblems: false,
      isGranted: false,
      method,
    };
    const judged = judgeTarget(target, situation);
    if (judged.verdict === 'refuse') throw new ProxyRefusal(judged.by, judged.reason);
    return judged.reaches;
  };
}

function socksName(name: string, port = 80): Buffer {
  const host = Buffer.from(name, 'utf8');
  return Buffer.concat([
    Buffer.from([5, 1, 0, 5, 1, 0, 3, host.length]),
    host,
    Buffer.from([port >> 8, port & 0xff]),
  ]);
}

function socksAddress(bytes: number[], port = 80): Buffer {
  return Buffer.from([
    5,
    1,
    0,
    5,
    1,
    0,
    bytes.length === 4 ? 1 : 4,
    ...bytes,
    port >> 8,
    port & 0xff,
  ]);
}

const login = Buffer.concat([
  Buffer.from([5, 1, 2, 1, 6]),
  Buffer.from('heddle'),
  Buffer.from([6]),
  Buffer.from('secret'),
]);
const basic = `Proxy-Authorization: Basic ${Buffer.from('heddle:secret').toString('base64')}\r\n`;

/** Sends bytes, and then ends or breaks off the connection. Resolves when it is closed. */
async function breakOff(port: number, bytes: Buffer, how: 'end' | 'reset'): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  if (bytes.length > 0) await new Promise((resolve) => socket.write(bytes, resolve));
  if (how === 'end') socket.resume().end();
  else socket.resetAndDestroy();
  await closed;
}

/** Waits until both sides of the proxy have no open connection. */
function allClosed(sockets: ReadonlySet<Socket>): Promise<void> {
  return vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 5_000, interval: 2 });
}

describe('a handshake that is cut after any byte', () => {
  test.each([
    [
      'a plain request',
      Buffer.from(
        `POST http://a.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n${basic}\r\n`,
      ),
    ],
    ['CONNECT', Buffer.from(`CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n${basic}\r\n`)],
    ['SOCKS5 with a name', Buffer.concat([login, socksName('a.example').subarray(3)])],
    ['SOCKS5 with an IPv4 address', Buffer.concat([login, socksAddress([8, 8, 8, 8]).subarray(3)])],
    [
      'SOCKS5 with an IPv6 address',
      Buffer.concat([
        login,
        socksAddress([32, 1, ...Array.from({ length: 14 }, () => 5)]).subarray(3),
      ]),
    ],
  ])('leaves nothing open and asks for nothing: %s', async (_what, bytes) => {
    const { port, asked, sockets, log } = await startProxy({
      credential: 'secret',
      decide: allowsNone,
    });
    const cuts = Array.from({ length: bytes.length }, (_, cut) => bytes.subarray(0, cut));
    for (const how of ['end', 'reset'] as const)
      await Promise.all(cuts.map((cut) => breakOff(port, cut, how)));
    await allClosed(sockets);
    expect(asked).toEqual([]);
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    await exchange(port, bytes);
    expect(asked).toHaveLength(1);
  });
});

test('200 random clients reach nothing that was not decided about, and leave nothing open', async () => {
  const echo = await startEcho();
  const web = await startWebServer();
  const { port, asked, sockets, log } = await startProxy({
    resolve: async () => ['127.0.0.1'],
    decide: async ({ target }) => {
      if (target.port !== echo.port && target.port !== web.port)
        throw new ProxyRefusal('denied', 'Another port.');
      return LOCAL;
    },
  });
  const whole = fc.constantFrom(
    Buffer.from(`GET http://a.example:${web.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3)),
    Buffer.from(
      `POST http://a.example:${web.port}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    ),
    Buffer.from(`CONNECT a.example:${echo.port} HTTP/1.1\r\n\r\nhello`),
    Buffer.concat([socksName('a.example', echo.port), Buffer.from('hello')]),
    socksAddress([127, 0, 0, 1], echo.port),
  );
  const client = fc.record({
    whole,
    flips: fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 3 }),
    length: fc.nat(200),
    pieces: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
    how: fc.constantFrom('end' as const, 'reset' as const),
  });
  await fc.assert(
    fc.asyncProperty(client, async ({ whole: bytes, flips, length, pieces, how }) => {
      const sent = Buffer.from(bytes);
      for (const [at, value] of flips) if (at < sent.length) sent[at] = value;
      let rest = sent.subarray(0, length);
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.on('error', () => {}).resume();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      for (const size of [...pieces, rest.length]) {
        if (size > 0 && rest.length > 0)
          await new Promise((resolve) => socket.write(rest.subarray(0, size), resolve));
        rest = rest.subarray(size);
      }
      if (how === 'end') socket.end();
      else socket.resetAndDestroy();
      await closed;
    }),
    { seed: 2026, numRuns: 200 },
  );
  await allClosed(sockets);
  for (const { target } of asked) expect(readHost(target.host)).toBe(target.host);
  expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  expect(
    String(
      await request(
        port,
        `GET http://a.example:${web.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      ),
    ),
  ).toMatch(/^HTTP\/1\.1 200 /);
});

describe('an odd spelling of this machine or of a private network', () => {
  const spellings = [
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '0x7f.1',
      '0x7f000001',
      '2130706433',
      '017700000001',
      '0177.0.0.1',
      '127.0.0.1.',
      '１２７.0.0.1',
    ],
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:0:0:1]',
    ],
    ...[
      '0',
      '0.0.0.0',
      '[::]',
      '10.1.2.3',
      '192.168.1.1',
      '172.16.0.1',
      '169.254.169.254',
      '0xa9fea9fe',
      '[fe80::1]',
      '[fd00::1]',
    ],
    ...[
      '[2002:7f00:1::]',
      '[64:ff9b::7f00:1]',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
  ];

  test.each(spellings)('%s is refused in every protocol', async (spelling) => {
    const { port, sockets } = await startProxy({
      decide: byPolicy(OPEN),
      resolve: async () => ['127.0.0.1'],
    });
    const plain = String(
      await request(
        port,
        Buffer.from(`GET http://${spelling}:1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
      ),
    );
    // A URL with other than ASCII characters is not valid HTTP.
    expect(plain).toMatch(/^HTTP\/1\.1 (403|400) /);
    expect(
      String(await exchange(port, Buffer.from(`CONNECT ${spelling}:1 HTTP/1.1\r\n\r\n`))),
    ).toMatch(/^HTTP\/1\.1 (403|400) /);
    const reply = await exchange(port, socksName(spelling, 1));
    expect([1, 2]).toContain(reply[3]);
    await allClosed(sockets);
  });

  test('in the binary addresses of SOCKS5 is refused', async () => {
    const { port } = await startProxy({ decide: byPolicy(OPEN) });
    const mapped = [...Array.from({ length: 10 }, () => 0), 255, 255, 127, 0, 0, 1];
    for (const address of [
      [127, 0, 0, 1],
      [10, 0, 0, 1],
      [0, 0, 0, 0],
      mapped,
      [...Array.from({ length: 15 }, () => 0), 1],
    ]) {
      expect((await exchange(port, socksAddress(address, 1)))[3]).toBe(2);
    }
  });

  test.each([
    'a\0.example',
    'a.example\0',
    'a .example',
    'a\r\nb.example',
    'a%00.example',
    'a..example',
    '.example',
    'a.example..',
    '1.2.3.4.5',
  ])('a host with %j is invalid', async (host) => {
    const { port, asked } = await startProxy({ decide: allowsNone });
    expect([...(await exchange(port, socksName(host, 80)))].slice(2, 4)).toEqual([5, 1]);
    for (const line of [`GET http://${host}/ HTTP/1.1`, `CONNECT ${host}:443 HTTP/1.1`]) {
      expect(
        String(await exchange(port, Buffer.from(`${line}\r\nConnection: close\r\n\r\n`))),
      ).not.toMatch(/^HTTP\/1\.1 200/);
    }
    expect(asked.filter(({ target }) => readHost(target.host) !== target.host)).toEqual([]);
  });

  test('in UTF-8 is its ASCII name, or invalid in HTTP; in another encoding it is invalid', async () => {
    const { port, asked } = await startProxy({
      decide: () => Promise.reject(new ProxyRefusal('notAllowed', 'no')),
    });
    const socks = (name: Buffer) =>
      Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, Buffer.from([1, 187])]);
    for (const encoding of ['utf8', 'latin1'] as const) {
      const name = Buffer.from('bücher.example', encoding);
      await exchange(port, socks(name));
      await exchange(
        port,
        Buffer.concat([Buffer.from('CONNECT '), name, Buffer.from(':443 HTTP/1.1\r\n\r\n')]),
      );
      await exchange(
        port,
        Buffer.concat([
          Buffer.from('GET http://'),
          name,
          Buffer.from('/ HTTP/1.1\r\nHost: a\r\n\r\n'),
        ]),
      );
    }
    expect(asked.map(({ target }) => target)).toEqual([
      { host: 'xn--bcher-kva.example', port: 443, protocol: 'socks5Tcp' },
    ]);
  });

  test('a dot at the end and capital letters do not change what a list says', async () => {
    const denying: NetworkPolicy = {
      ...OPEN,
      domains: [
        ...OPEN.domains,
        { pattern: { type: 'below', domain: 'bad.example', itself: true }, access: 'deny' },
      ],
    };
    const { port } = await startProxy({ decide: byPolicy(denying) });
    for (const host of ['bad.example.', 'BAD.example', 'x.Bad.Example.']) {
      expect((await exchange(port, socksName(host, 443)))[3]).toBe(2);
      expect(
        String(await exchange(port, Buffer.from(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`))),
      ).toMatch(/^HTTP\/1\.1 (403|400) /);
    }
  });
});

describe('DNS', () => {
  test('that answers differently each time leads nowhere but to what was checked', async () => {
    const echo = await startEcho();
    const answers = [
      ['93.184.216.34'],
      ['127.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['0.0.0.0'],
    ];
    const { port, sockets } = await startProxy({
      decide: byPolicy(OPEN),
      resolve: async () => answers.pop() ?? [],
    });
    while (answers.length > 1) {
      expect(
        String(await exchange(port, `CONNECT a.example:${echo.port} HTTP/1.1\r\n\r\n`)),
      ).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(echo.sockets.size).toBe(0);
    await allClosed(sockets);
  });

  test('that never answers holds up no other name for long, and nothing once the proxy closes', async () => {
    const { proxy, port, asked } = await startProxy({
      decide: byPolicy(OPEN),
      resolve: () => new Promise(() => {}),
    });
    const waiting = Array.from({ length: 20 }, (_, index) =>
      exchange(port, `CONNECT a${index}.example:443 HTTP/1.1\r\n\r\n`),
    );
    await vi.waitFor(() => expect(asked).toHaveLength(20), { interval: 2, timeout: 30_000 });
    proxy.close();
    await Promise.all(waiting);
  });
});

describe('requests within requests', () => {
  const SMUGGLED = 'POST /changed HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';

  test('a body in chunks is not taken for further requests', async () => {
    const seen: string[] = [];
    const web = await startWebServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url}`);
      incoming.resume().on('end', () => response.end('done'));
    });
    const { port } = await startProxy();
    const chunk = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
    const head = `GET http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(String(await request(port, head + chunk))).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen).toEqual(['GET /']);
  });

  test.each([
    'content-length',
    'X-A, Content-Length',
    'transfer-encoding',
    'close, host',
    'Content-Length ,close',
  ])(
    'a header that frames the body cannot be taken for one of the connection: %s',
    async (named) => {
      const { port, asked } = await startProxy();
      const lines = [
        'GET http://a.example/ HTTP/1.1',
        'Host: a',
        `Connection: ${named}`,
        `Content-Length: ${SMUGGLED.length}`,
        '',
        SMUGGLED,
      ];
      expect(String(await exchange(port, lines.join('\r\n')))).toMatch(/^HTTP\/1\.1 400 /);
      expect(asked).toEqual([]);
    },
  );

  test('two lengths are invalid', async () => {
    const { port, asked } = await startProxy();
    const lines = [
      'GET http://a.example/ HTTP/1.1',
      'Host: a',
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      '',
    ];
    expect(String(await exchange(port, lines.join('\r\n')))).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
  });

  test('a host that changes the protocol gives an error', async () => {
    const web = await startWebServer();
    const { port } = await startProxy();
    const switching = await startEcho(
      (socket) =>
        void socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    );
    const answer = await request(
      port,
      `GET http://127.0.0.1:${switching.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(String(answer)).toMatch(/^HTTP\/1\.1 502 /);
    expect(web.port).not.toBe(switching.port);
  });
});

describe('requests that do not wait for the answers to earlier ones', () => {
  const line = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;

  test('are decided about and answered in their order, one at a time', async () => {
    const web = await startWebServer();
    let open = 0;
    let most = 0;
    const { port, asked } = await startProxy({
      async decide({ target }) {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        if (target.host === 'b.example') throw new ProxyRefusal('declined', 'No.');
        return LOCAL;
      },
    });
    const url = (index: number) => `http://127.0.0.1:${web.port}/${index}`;
    const body = 'abcdefg';
    const post = `POST ${url(9)} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const requests = Array.from({ length: 9 }, (_, index) => line(url(index))).join('');
    const answers = String(await request(port, requests + post + line('http://b.example/')));
    expect(answers.match(/(?<=(GET|POST) \/)\d/g)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ]);
    expect(answers).toMatch(/POST \/9 127\.0\.0\.1:\d+ abcdefg/);
    expect(answers).toContain('heddle: No.');
    expect(asked).toHaveLength(11);
    expect(most).toBe(1);
  });

  test('close the connection if there are too many', async () => {
    const { port, asked, sockets } = await startProxy({ decide: allowsNone });
    await exchange(port, line('http://a.example/').repeat(6000));
    await allClosed(sockets);
    expect(asked).toEqual([]);
  });
});

test('a host that has closed the connection already is an error of the gateway', async () => {
  const echo = await startEcho();
  const { port } = await startProxy({ connected: (socket) => void socket.destroy() });
  const head = 'Host: a\r\nConnection: close\r\n\r\n';
  expect(
    String(await request(port, `GET http://127.0.0.1:${echo.port}/ HTTP/1.1\r\n${head}`)),
  ).toMatch(/^HTTP\/1\.1 502 /);
  expect(String(await request(port, `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\n${head}`))).toMatch(
    /^HTTP\/1\.1 502 /,
  );
  expect((await exchange(port, socksAddress([127, 0, 0, 1], echo.port)))[3]).toBe(4);
});

test('a client cannot open more connections than the limit, also by requests that follow each other in one', async () => {
  const silent = await startEcho(() => {});
  const { port, sockets, proxy } = await startProxy();
  const client = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => void client.destroy());
  client.on('error', () => {}).resume();
  let most = 0;
  for (let round = 0; round < 40; round++) {
    client.write(`GET http://127.0.0.1:${silent.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(50));
    await vi.waitFor(() => expect(client.writableLength).toBe(0), { interval: 1 }).catch(() => {});
    most = Math.max(most, sockets.size);
  }
  expect(most).toBeLessThanOrEqual(512);
  proxy.close();
  await allClosed(sockets);
});

test('the proxies of several clients share the files that the server can open, and the next one still gets some', async () => {
  const silent = await startEcho(() => {});
  const budget = new SocketBudget(400);
  const proxies = await Promise.all(Array.from({ length: 4 }, () => startProxy({ budget })));
  for (const { port, sockets } of proxies) {
    const clients = Array.from({ length: 150 }, () => connect({ port, host: '127.0.0.1' }));
    const answered = clients.map((client) => {
      onTestFinished(() => void client.destroy());
      client.on('error', () => {}).write(`CONNECT 127.0.0.1:${silent.port} HTTP/1.1\r\n\r\n`);
      return new Promise((resolve) => client.once('data', resolve).once('close', resolve));
    });
    await vi.waitFor(() => expect(sockets.size).toBeGreaterThan(5), {
      interval: 2,
      timeout: 30_000,
    });
    await Promise.all(answered);
  }
  const counts = proxies.map(({ sockets }) => sockets.size);
  expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(200);
  expect(Math.min(...counts)).toBeGreaterThan(5);
  for (const { proxy, sockets } of proxies) {
    proxy.close();
    await allClosed(sockets);
  }
  expect(budget.allows(199)).toBe(true);
});
