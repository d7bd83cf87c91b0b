import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Env } from '../../src/base/env.ts';
import { proxyFor } from '../../src/base/http/proxy-for.ts';
import { listening, startProxy, stuckProxy, TRUSTED, tlsFiles } from './loopback-proxy.ts';
import {
  answered,
  answeredEvents,
  collect,
  modelAt,
  never,
  ProviderServer,
  request,
} from './provider-server.ts';

async function tlsProvider(): Promise<number> {
  const server = createTlsServer(tlsFiles('other-host'), (req, res) => answered(res, req));
  server.on('secureConnection', (socket) => onTestFinished(() => void socket.destroy()));
  return listening(server);
}

const sendHeaders = (socket: Socket) =>
  void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`);
const connectToNobody = (socket: Socket) =>
  void socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));

describe('a provider behind a proxy', () => {
  test('over https: the proxy connects, and the certificate is that of the provider', async () => {
    const proxy = await startProxy(await tlsProvider());
    const env = { ...TRUSTED, HTTPS_PROXY: `http://me:s%20ecret@127.0.0.1:${proxy.port}` };
    const { model } = modelAt(0, { baseUrl: 'https://other.example/v1' }, { env });
    for (let turn = 0; turn < 10; turn++)
      expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
    // Connections are kept.
    expect(proxy.seen.length).toBeLessThanOrEqual(2);
    expect(proxy.seen[0]).toEqual({
      line: 'CONNECT other.example:443',
      credentials: `Basic ${btoa('me:s ecret')}`,
    });
  });

  test('over http: the proxy gets the whole URL', async () => {
    await using provider = await ProviderServer.start(answered);
    const proxy = await startProxy(provider.port);
    const { model } = modelAt(
      0,
      { baseUrl: 'http://other.example/v1' },
      { env: { http_proxy: `127.0.0.1:${proxy.port}` } },
    );
    expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
    expect(proxy.seen).toEqual([
      { line: 'POST http://other.example/v1/responses', credentials: undefined },
    ]);
  });

  test.each([
    [
      407,
      'The proxy http://127.0.0.1:PORT requires a user and a password: put them into the URL in HTTPS_PROXY.',
    ],
    [502, 'Check the proxy in HTTPS_PROXY, or set NO_PROXY to connect directly.'],
  ])('a proxy that answers %i says so', async (status, advice) => {
    const proxy = await startProxy(0, { status });
    const env = { HTTPS_PROXY: `http://user:password-1@127.0.0.1:${proxy.port}` };
    const { model } = modelAt(0, { baseUrl: 'https://other.example/v1' }, { env });
    const last = (await collect(model.stream(request, never))).at(-1);
    const text = last?.type === 'failed' ? last.error.message : '';
    expect(text).toBe(
      `P (https://other.example/v1/responses) cannot be reached: the proxy did not connect to it, and answered HTTP ${status}. ${advice.replace('PORT', `${proxy.port}`)}`,
    );
  });

  // The first number: how often the proxy hears of the client before nothing more happens.
  const stuck: [string, number, string, (socket: Socket) => void][] = [
    ['never answers', 1, 'there was no connection within 3 s', () => {}],
    [
      'sends headers without end',
      1,
      'the proxy did not connect to it, and answered more than 16 KiB of headers.',
      sendHeaders,
    ],
    [
      'connects to a host that does not shake hands',
      2,
      'there was no connection within 3 s',
      connectToNobody,
    ],
  ];
  test.each(stuck)(
    'a proxy that %s: the attempt ends in time, and its connection too',
    async (_what, count, text, behave) => {
      const { port, closed, heard } = await stuckProxy(behave);
      const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
      const { model, clock } = modelAt(
        0,
        { baseUrl: 'https://other.example/v1', connectTimeoutMs: 3_000 },
        { env },
      );
      const events = collect(model.stream(request, never));
      await clock.timerOf(3_000);
      await heard(count);
      if (behave !== sendHeaders) clock.advance(3_000);
      expect((await events).at(-1)).toMatchObject({
        type: 'failed',
        error: { message: expect.stringContaining(text) as string },
      });
      await closed;
    },
  );

  test('an interrupt ends the connection to a proxy that never answers', async () => {
    const { port, closed, heard } = await stuckProxy(() => {});
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const { model } = modelAt(0, { baseUrl: 'https://other.example/v1' }, { env });
    const interrupt = new AbortController();
    const events = collect(model.stream(request, interrupt.signal));
    await heard(1);
    interrupt.abort();
    await events;
    await closed;
  });

  test.each(['http', 'https'])('a proxy over TLS for %s', async (scheme) => {
    await using provider = await ProviderServer.start(answered);
    const proxy = await startProxy(scheme === 'http' ? provider.port : await tlsProvider(), {
      tls: tlsFiles('valid'),
    });
    const env = { ...TRUSTED, ALL_PROXY: `https://127.0.0.1:${proxy.port}` };
    const { model } = modelAt(0, { baseUrl: `${scheme}://other.example/v1` }, { env });
    expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
    expect(proxy.seen.map(({ line }) => line)).toEqual([
      scheme === 'http' ? 'POST http://other.example/v1/responses' : 'CONNECT other.example:443',
    ]);
  });

  test('a provider on this machine is asked directly', async () => {
    await using provider = await ProviderServer.start(answered);
    const { model } = modelAt(
      provider.port,
      {},
      { env: { HTTP_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9' } },
    );
    expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
  });
});

describe('the proxy that the environment names', () => {
  const P = 'http://proxy.example:3128';
  const cases: [string, string, Env, string | null][] = [
    ['none', 'https://a.example', {}, null],
    ['for https', 'https://a.example', { HTTPS_PROXY: P, HTTP_PROXY: 'http://x' }, P],
    ['for http', 'http://a.example', { HTTPS_PROXY: 'http://x', HTTP_PROXY: P }, P],
    ['small letters win', 'https://a.example', { HTTPS_PROXY: 'http://x', https_proxy: P }, P],
    [
      'an empty variable is none',
      'https://a.example',
      { https_proxy: '', HTTPS_PROXY: ' ', ALL_PROXY: P },
      P,
    ],
    ['without a scheme', 'https://a.example', { HTTPS_PROXY: 'proxy.example:3128' }, P],
    ['localhost', 'http://localhost:1234', { ALL_PROXY: P }, null],
    ['::1', 'http://[::1]:1234', { ALL_PROXY: P }, null],
    ['NO_PROXY: *', 'https://a.example', { ALL_PROXY: P, NO_PROXY: '*' }, null],
    [
      'NO_PROXY: the host',
      'https://a.example',
      { ALL_PROXY: P, NO_PROXY: 'b.example, A.example' },
      null,
    ],
    [
      'NO_PROXY: a domain above',
      'https://x.a.example',
      { ALL_PROXY: P, no_proxy: 'a.example' },
      null,
    ],
    ['NO_PROXY: .domain', 'https://x.a.example', { ALL_PROXY: P, NO_PROXY: '.a.example' }, null],
    ['NO_PROXY: *.domain', 'https://x.a.example', { ALL_PROXY: P, NO_PROXY: '*.a.example' }, null],
    [
      'NO_PROXY: another name that ends so',
      'https://ba.example',
      { ALL_PROXY: P, NO_PROXY: 'a.example' },
      P,
    ],
    [
      'NO_PROXY: the port',
      'https://a.example:8443',
      { ALL_PROXY: P, NO_PROXY: 'a.example:8443' },
      null,
    ],
    [
      'NO_PROXY: the usual port',
      'https://a.example',
      { ALL_PROXY: P, NO_PROXY: 'a.example:443' },
      null,
    ],
    [
      'NO_PROXY: another port',
      'https://a.example',
      { ALL_PROXY: P, NO_PROXY: 'a.example:8443' },
      P,
    ],
    ['NO_PROXY: an address', 'http://192.0.2.7', { ALL_PROXY: P, NO_PROXY: '192.0.2.7' }, null],
    ['NO_PROXY: a network', 'http://192.0.2.7', { ALL_PROXY: P, NO_PROXY: '192.0.2.0/24' }, null],
    [
      'NO_PROXY: another network',
      'http://192.0.3.7',
      { ALL_PROXY: P, NO_PROXY: '192.0.2.0/24' },
      P,
    ],
    [
      'NO_PROXY: an IPv6 address',
      'http://[2001:db8::1]',
      { ALL_PROXY: P, NO_PROXY: '[2001:db8::1]' },
      null,
    ],
    [
      'NO_PROXY: an IPv6 network',
      'http://[2001:db8::1]',
      { ALL_PROXY: P, NO_PROXY: '2001:db8::/32' },
      null,
    ],
    [
      'NO_PROXY: nonsense',
      'http://192.0.2.7',
      { ALL_PROXY: P, NO_PROXY: '/, ::, 192.0.2.0/99, [, :443' },
      P,
    ],
  ];
  test.each(cases)('%s', (_name, url, env, wanted) => {
    const proxy = proxyFor(new URL(url), env);
    expect(proxy === null || 'problem' in proxy ? proxy : proxy.url.origin).toBe(wanted);
  });
});
