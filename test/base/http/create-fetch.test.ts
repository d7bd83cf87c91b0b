import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createFetch } from '../../../src/base/http/create-fetch.ts';
import { HttpClient } from '../../../src/base/http/http-client.ts';
import { RecordingLog } from '../../support/recording-log.ts';

async function serving(
  answer: (...exchange: Parameters<RequestListener>) => unknown,
): Promise<string> {
  const server = createServer((req, res) => void answer(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fetchWith({
  env = {},
  bytesMax = 1024,
}: {
  env?: Record<string, string>;
  bytesMax?: number;
} = {}) {
  const client = new HttpClient({ clock: systemClock, env, log: new RecordingLog() });
  return createFetch(
    { client, env },
    { bytesMax, partsMax: 100, headers: { 'user-agent': 'test/1', accept: 'text/plain' } },
  );
}

test('sends method, headers and body, and passes on status, headers and body', async () => {
  const url = await serving(async (req, res) => {
    let body = '';
    for await (const part of req) body += String(part);
    res.writeHead(418, { 'x-told': 'yes', 'www-authenticate': ['a', 'b'] });
    res.end(
      JSON.stringify([
        req.method,
        req.url,
        req.headers['user-agent'],
        req.headers.accept,
        req.headers['accept-encoding'],
        body,
      ]),
    );
  });
  const body = new URLSearchParams({ a: 'ä b' });
  const response = await fetchWith()(`${url}/path?q=1`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body,
  });
  expect([
    response.status,
    response.ok,
    response.headers.get('x-told'),
    response.headers.get('www-authenticate'),
  ]).toEqual([418, false, 'yes', 'a, b']);
  expect(await response.json()).toEqual([
    'POST',
    '/path?q=1',
    'test/1',
    'application/json',
    'identity',
    'a=%C3%A4+b',
  ]);
});

test('a redirect is passed on, and an answer without a body has none', async () => {
  const url = await serving(
    (req, res) =>
      void (
        req.url === '/' ? res.writeHead(302, { location: '/other' }) : res.writeHead(204)
      ).end(),
  );
  const { status, headers } = await fetchWith()(url);
  expect([status, headers.get('location')]).toEqual([302, '/other']);
  expect((await fetchWith()(`${url}/none`)).body).toBeNull();
});

test('a body may have so many bytes; of a stream of events each event', async () => {
  const url = await serving((req, res) => {
    const isStream = req.url === '/events' || req.url === '/endless-event';
    res.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'text/plain' });
    if (req.url === '/events') return void res.end(`data: ${'x'.repeat(600)}\n\n`.repeat(20));
    const flood = () => {
      while (!res.destroyed && res.write('x'.repeat(500)));
    };
    res.on('drain', flood);
    flood();
  });
  const fetch = fetchWith();
  expect((await (await fetch(`${url}/events`)).text()).length).toBe(20 * 608);
  const tooLong = 'the server sent a message of more than 0.0009765625 MiB';
  await expect((await fetch(`${url}/endless`)).text()).rejects.toThrow(tooLong);
  await expect((await fetch(`${url}/endless-event`)).text()).rejects.toThrow(tooLong);
});

test('the signal ends a request before and after its head, and closes the connection', async () => {
  const closed: Promise<unknown>[] = [];
  const url = await serving((req, res) => {
    closed.push(once(req.socket, 'close'));
    if (req.url === '/body') res.writeHead(200).write('part');
    else controller.abort(new Error('enough'));
  });
  let controller = new AbortController();
  await expect(fetchWith()(url, { signal: controller.signal })).rejects.toThrow('enough');
  controller = new AbortController();
  const { body } = await fetchWith()(`${url}/body`, { signal: controller.signal });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  expect(String(Buffer.from((await reader.read()).value ?? []))).toBe('part');
  controller.abort(new Error('enough'));
  await expect(reader.read()).rejects.toThrow('enough');
  await Promise.all(closed);
});

test.each([
  [
    'http://127.0.0.1:1',
    {},
    /^no complete response from http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/,
  ],
  [
    'http://a.example',
    { HTTP_PROXY: 'http://u:secret@127.0.0.1:1' },
    /^no complete response from http:\/\/a\.example through the proxy in HTTP_PROXY: /,
  ],
  [
    'http://a.example',
    { HTTP_PROXY: 'socks5://127.0.0.1:1' },
    /^The proxy in HTTP_PROXY is a socks5 proxy/,
  ],
])('no response from %s', async (url, env, text) => {
  const error = await fetchWith({ env })(url).catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toMatch(text);
  expect((error as Error).message).not.toContain('secret');
});

test('a compressed response is refused, because its length is unknown', async () => {
  const url = await serving(
    (_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  );
  await expect(fetchWith()(url)).rejects.toThrow(
    'the response is compressed (gzip), although heddle did not ask for that',
  );
});
