// @module-tag slow
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { place } from '../support.ts';
import {
  connected,
  type ListeningServer,
  listeningServer,
  requestText,
  sent,
  statusOf,
  UPGRADE,
} from './listening-server.ts';

/** The status of the answer to a request with these headers beside those of an upgrade. */
async function asked(port: number, ...headers: string[]): Promise<number> {
  return statusOf(await sent(port, requestText([...UPGRADE, ...headers])));
}

/** The same with another line for one of the headers of an upgrade. */
async function askedWith(port: number, replaced: string): Promise<number> {
  const [name = ''] = replaced.split(':');
  const headers = UPGRADE.map((line) => (line.startsWith(`${name}:`) ? replaced : line));
  return statusOf(await sent(port, requestText(headers)));
}

function descriptors({ heddle }: ListeningServer): number {
  return readdirSync(`/proc/${heddle.pid}/fd`).length;
}

const PAGE = 'https://page.example';

describe('pages', () => {
  const origins: [string, number][] = [
    [PAGE, 101],
    ['null', 403],
    ['', 403],
    ['http://page.example', 403],
    [`${PAGE}:8443`, 403],
    [`${PAGE}.evil.example`, 403],
    [`${PAGE}@evil.example`, 403],
    [`${PAGE} https://evil.example`, 403],
    [`${PAGE}, https://evil.example`, 403],
    ['HTTPS://PAGE.EXAMPLE', 403],
    ['http://127.0.0.1', 403],
    ['http://localhost', 403],
    ['file://', 403],
  ];
  const hosts: [string, number][] = [
    ['127.0.0.1', 101],
    ['localhost:1', 101],
    ['[::1]', 101],
    ['named.example', 101],
    ['NAMED.example:80', 101],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['evil.example:80:127.0.0.1', 403],
    ['[::1].evil.example', 403],
    ['127.0.0.1@evil.example', 403],
    ['user@127.0.0.1', 403],
    ['127.0.0.1/evil.example', 403],
    ['localhost.', 403],
    ['', 403],
  ];

  test('reach a server only from an allowed origin, with the name of this machine', async () => {
    const { port } = await listeningServer({
      args: ['--ws-allow-origin', PAGE, '--ws-allow-host', 'named.example'],
    });
    for (const [origin, status] of origins)
      expect([origin, await asked(port, `Origin: ${origin}`)]).toEqual([origin, status]);
    for (const [host, status] of hosts)
      expect([host, await askedWith(port, `Host: ${host}`)]).toEqual([host, status]);
    const others = {
      'two origins': await asked(port, `Origin: ${PAGE}`, 'Origin: https://evil.example'),
      'two hosts': await asked(port, 'Host: localhost'),
      'a folded header': await asked(port, `Origin: ${PAGE}`, '\thttps://evil.example'),
      'a space before the colon': await asked(port, 'Origin : https://evil.example'),
      'a proxy that asks for others': await asked(port, 'X-Forwarded-For: 192.0.2.1'),
    };
    expect(others).toEqual({
      'two origins': 400,
      'two hosts': 400,
      'a folded header': 400,
      'a space before the colon': 400,
      'a proxy that asks for others': 403,
    });
  });

  test('learn nothing from requests that are no upgrades', async () => {
    const { port } = await listeningServer();
    const status = async (line: string, ...headers: string[]) =>
      statusOf(await sent(port, requestText(['Host: 127.0.0.1', ...headers], line)));
    const form = ['Content-Type: text/plain', 'Content-Length: 0'];
    expect({
      form: await status('POST / HTTP/1.1', 'Origin: https://evil.example', ...form),
      preflight: await status(
        'OPTIONS / HTTP/1.1',
        'Origin: https://evil.example',
        'Access-Control-Request-Private-Network: true',
      ),
      health: await status('GET /healthz HTTP/1.1', 'Origin: https://evil.example'),
      'a form without origin': await status('POST / HTTP/1.1', ...form),
      'a picture': await status('GET / HTTP/1.1', 'Sec-Fetch-Mode: no-cors'),
      'a tunnel': await status('CONNECT 127.0.0.1:1 HTTP/1.1'),
    }).toEqual({
      form: 403,
      preflight: 403,
      health: 403,
      'a form without origin': 405,
      'a picture': 400,
      'a tunnel': 0,
    });
  });
});

const TOKEN = 'correct-horse-battery-staple';
const SECRET = 's'.repeat(32);
const NOW = () => Math.floor(Date.now() / 1000);

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A JSON Web Token. */
function signed(
  claims: object,
  { secret = SECRET, hash = 'sha256', header = { alg: 'HS256', typ: 'JWT' } as object } = {},
): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

describe('tokens', () => {
  test('of other forms and values are refused', async () => {
    const sha256 = createHash('sha256').update(TOKEN).digest('hex');
    const { port } = await listeningServer({
      args: ['--ws-auth', 'capability-token', '--ws-token-sha256', sha256],
    });
    expect(await asked(port, `Authorization: Bearer ${TOKEN}`)).toBe(101);
    const values = [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${TOKEN}`,
      TOKEN,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Bearer ${TOKEN.toUpperCase()}`,
      `Bearer ${sha256}`,
      `Bearer ${TOKEN} ${TOKEN}`,
      `Bearer x, Bearer ${TOKEN}`,
      `Bearer "${TOKEN}"`,
      `Bearer ${TOKEN}\u00a0`,
      'Bearer undefined',
      'Bearer null',
    ];
    const answers = [];
    for (const value of values) answers.push([value, await asked(port, `Authorization: ${value}`)]);
    expect(answers).toEqual(values.map((value) => [value, 401]));
    const elsewhere = {
      'in the URL': statusOf(
        await sent(
          port,
          requestText(UPGRADE, `GET /?token=${TOKEN}&access_token=${TOKEN} HTTP/1.1`),
        ),
      ),
      'as a subprotocol': await asked(port, `Sec-WebSocket-Protocol: ${TOKEN}`),
      'as a cookie': await asked(port, `Cookie: token=${TOKEN}`),
      'for a proxy': await asked(port, `Proxy-Authorization: Bearer ${TOKEN}`),
      'with an underscore': await asked(port, `Authorization_: Bearer ${TOKEN}`),
      twice: await asked(port, `Authorization: Bearer ${TOKEN}`, 'Authorization: Bearer x'),
      'in a trailer': statusOf(
        await sent(
          port,
          requestText([...UPGRADE, 'Transfer-Encoding: chunked', 'Trailer: Authorization']) +
            `0\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        ),
      ),
    };
    expect(elsewhere).toEqual({
      'in the URL': 401,
      'as a subprotocol': 401,
      'as a cookie': 401,
      'for a proxy': 401,
      'with an underscore': 401,
      twice: 400,
      'in a trailer': 401,
    });
  });

  test('that are signed otherwise, or claim something else, are refused', async () => {
    const where = place({ secret: `${SECRET}\n` });
    const flags = {
      'shared-secret-file': join(where.home, 'secret'),
      issuer: 'us',
      audience: 'it',
    };
    const { port } = await listeningServer({
      where,
      args: [
        ...['--ws-auth', 'signed-bearer-token'],
        ...Object.entries(flags).flatMap(([name, value]) => [`--ws-${name}`, value]),
      ],
    });
    const good = { exp: NOW() + 600, iss: 'us', aud: 'it' };
    const { exp: _, ...lasting } = good;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const byKey = `${part({ alg: 'RS256' })}.${part(good)}`;
    const tokens: Record<string, string> = {
      'another secret': signed(good, { secret: 't'.repeat(32) }),
      'no secret': signed(good, { secret: '' }),
      'the secret with its line end': signed(good, { secret: `${SECRET}\n` }),
      'alg none': `${part({ alg: 'none' })}.${part(good)}.`,
      'alg None, signed': signed(good, { header: { alg: 'None' } }),
      'no alg': signed(good, { header: {} }),
      'a list of algs': signed(good, { header: { alg: ['HS256'] } }),
      HS512: signed(good, { hash: 'sha512', header: { alg: 'HS512' } }),
      RS256: `${byKey}.${sign('sha256', Buffer.from(byKey), privateKey).toString('base64url')}`,
      'a critical header': signed(good, { header: { alg: 'HS256', crit: ['x'], x: 1 } }),
      'a payload that is not encoded': signed(good, {
        header: { alg: 'HS256', crit: ['b64'], b64: false },
      }),
      'its own key': signed(good, {
        secret: 'mine',
        header: { alg: 'HS256', jwk: { kty: 'oct', k: 'bWluZQ' } },
      }),
      'no signature': signed(good).replace(/[^.]*$/, ''),
      'two parts': signed(good).replace(/\.[^.]*$/, ''),
      'another end': signed(good).slice(0, -1),
      expired: signed({ ...good, exp: NOW() - 60 }),
      'no end': signed(lasting),
      'an end that is no number': signed({ ...good, exp: '9999999999' }),
      'not yet': signed({ ...good, nbf: NOW() + 60 }),
      'another issuer': signed({ ...good, iss: 'them' }),
      'a list of issuers': signed({ ...good, iss: ['us'] }),
      'no issuer': signed({ ...good, iss: undefined }),
      'another audience': signed({ ...good, aud: 'that' }),
      'other audiences': signed({ ...good, aud: ['that', 'IT'] }),
      'no audience': signed({ ...good, aud: undefined }),
      'claims that are a list': signed([good]),
      'no JSON': `${part({ alg: 'HS256' })}.x.x`,
    };
    const answers: Record<string, number> = {};
    for (const [name, token] of Object.entries(tokens))
      answers[name] = await asked(port, `Authorization: Bearer ${token}`);
    expect(answers).toEqual(Object.fromEntries(Object.keys(tokens).map((name) => [name, 401])));
    expect(await asked(port, `Authorization: Bearer ${signed(good)}`)).toBe(101);
  });

  test('are read anew for each client, and nobody learns where they lie', async () => {
    const where = place({ token: 'first' });
    const file = join(where.home, 'token');
    const { port } = await listeningServer({
      where,
      args: ['--ws-auth', 'capability-token', '--ws-token-file', file],
    });
    const status = (token: string) => asked(port, `Authorization: Bearer ${token}`);
    expect(await status('first')).toBe(101);
    writeFileSync(file, 'second');
    expect([await status('first'), await status('second')]).toEqual([401, 101]);
    rmSync(file);
    const answer = await sent(
      port,
      requestText([...UPGRADE, 'Authorization: Bearer second']),
      /checked/,
    );
    expect([statusOf(answer), answer.includes(where.home)]).toEqual([503, false]);
    writeFileSync(file, '');
    expect([await status(''), await status('second')]).toEqual([503, 503]);
  });
});

describe('connections', () => {
  test('that were refused, and that their clients keep open, cost the server nothing', async () => {
    const server = await listeningServer();
    await server.heddle.atRest();
    const before = descriptors(server);
    const clients = await Promise.all(Array.from({ length: 50 }, () => connected(server.port)));
    for (const [index, client] of clients.entries()) {
      const headers = index % 2 === 0 ? [...UPGRADE, 'Origin: x'] : ['Host: 127.0.0.1'];
      client.write(requestText(headers));
    }
    await vi.waitFor(() => expect(descriptors(server)).toBe(before), { timeout: 10_000 });
    for (const client of clients) client.destroy();
  });

  test('serve nothing but the first request: what follows are frames', async () => {
    const { port } = await listeningServer();
    const smuggled = {
      'behind an upgrade': requestText(UPGRADE),
      'as the body of one': requestText([...UPGRADE, 'Content-Length: 200']),
      'in chunks': requestText([...UPGRADE, 'Transfer-Encoding: chunked']),
      'with both lengths': requestText([
        ...UPGRADE,
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
      ]),
      'with two lengths': requestText([...UPGRADE, 'Content-Length: 4', 'Content-Length: 5']),
      'behind a refused one': requestText([...UPGRADE, 'Origin: x']),
      'behind one for health': requestText(['Host: 127.0.0.1'], 'GET /healthz HTTP/1.1'),
    };
    const counts: Record<string, number> = {};
    for (const [name, first] of Object.entries(smuggled)) {
      const second = requestText(['Host: 127.0.0.1'], 'GET /healthz HTTP/1.1');
      const answer = await sent(port, `${first}${second}`, /never/);
      counts[name] = answer.match(/HTTP\/1\.1 \d/g)?.length ?? 0;
    }
    expect(counts).toEqual(Object.fromEntries(Object.keys(smuggled).map((name) => [name, 1])));
  });
});
