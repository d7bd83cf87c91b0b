// @module-tag slow
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { expect, test, vi } from 'vitest';
import { startProxy, TRUSTED, tlsFiles } from '../model/loopback-proxy.ts';
import { callWeb, web } from './logging-in.ts';
import { mcpCall, mcpItems, mcpThread, runTurn, until } from './mcp-thread.ts';
import { startOauthServer } from './oauth-server.ts';
import { respond, resultOf, startWebServer } from './web-server.ts';

type Thread = Awaited<ReturnType<typeof mcpThread>>;

const states = ({ client }: Thread) => client.notifications('mcpServer/startupStatus/updated');
const reached = (server: Thread, status: string) =>
  until(server, status, () => states(server).at(-1)?.status === status);

/** A response that comes later. */
function responseSoon() {
  let resolve = (_response: ServerResponse): void => {};
  const promise = new Promise<ServerResponse>((resolved) => (resolve = resolved));
  return { promise, resolve: (response: ServerResponse) => resolve(response) };
}

/** A browser that trusts the servers of tests, and finds them behind no proxy. */
async function browse(address: string, port: number): Promise<string> {
  const { pathname, search, host } = new URL(address);
  const options = {
    host: '127.0.0.1',
    port,
    path: pathname + search,
    headers: { host },
    servername: host,
    rejectUnauthorized: false,
  };
  const [{ headers }] = await once(tlsRequest(options).end(), 'response');
  return headers.location;
}

test('requests to the server and to its authorization server use the proxy and the certificates of the environment', async () => {
  const oauth = await startOauthServer({ tls: tlsFiles('other-host') });
  const proxy = await startProxy(oauth.port);
  const env = { ...TRUSTED, HTTPS_PROXY: `http://me:pass@127.0.0.1:${proxy.port}` };
  const server = await mcpThread([], { config: web(oauth.url), env });
  await reached(server, 'failed');
  expect(states(server).at(-1)).toMatchObject({
    error: 'the server requires a login',
    failureReason: 'reauthenticationRequired',
  });
  const { authorizationUrl } = await server.client.request('mcpServer/oauth/login', {
    name: 'web',
  });
  await fetch(await browse(authorizationUrl, oauth.port));
  await reached(server, 'ready');
  expect(await callWeb(server)).toEqual({ content: [{ type: 'text', text: 'seen' }] });
  // Its token is refused, and refreshed.
  oauth.valid.clear();
  expect(await callWeb(server)).toEqual({ content: [{ type: 'text', text: 'seen' }] });
  expect(new Set(proxy.seen.map(({ line, credentials }) => `${line} ${credentials}`))).toEqual(
    new Set([`CONNECT other.example:443 Basic ${btoa('me:pass')}`]),
  );
});

test.each([
  [{}, /certificate.*Set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to a file/],
  [
    { SSL_CERT_FILE: '/nowhere' },
    /certificate.*Set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to a file/,
  ],
])(
  'a certificate that is not trusted: the start fails, and says what to do (%j)',
  async (trust, text) => {
    const oauth = await startOauthServer({ tls: tlsFiles('other-host') });
    const proxy = await startProxy(oauth.port);
    const server = await mcpThread([], {
      config: web(oauth.url),
      env: { ...trust, https_proxy: `http://127.0.0.1:${proxy.port}` },
    });
    await reached(server, 'failed');
    expect(states(server).at(-1)?.error).toMatch(text);
    const warned = server.log.lines
      .filter(({ level }) => level === 'warn')
      .map((line) => line.text);
    expect(warned).toEqual(
      'SSL_CERT_FILE' in trust
        ? ['there is no file at the path in SSL_CERT_FILE; it is not used']
        : [],
    );
  },
);

test('a proxy that refuses is named by its variable', async () => {
  const proxy = await startProxy(0, { status: 407 });
  const env = { HTTPS_PROXY: `http://me:password-1@127.0.0.1:${proxy.port}` };
  const server = await mcpThread([], { config: web('https://other.example/mcp'), env });
  await reached(server, 'failed');
  const text =
    'through the proxy in HTTPS_PROXY: the proxy did not connect to it, and answered HTTP 407';
  expect(states(server).at(-1)?.error).toContain(text);
});

test('a call that is given up ends its request', async () => {
  const closed: Promise<unknown>[] = [];
  const url = await startWebServer({
    'tools/call': (response) => {
      closed.push(once(response, 'close'));
      server.clock.advance(5_000);
    },
  });
  const server = await mcpThread([], { config: web(url, 'tool_timeout_sec = 5') });
  await reached(server, 'ready');
  await expect(callWeb(server)).rejects.toThrow(
    'web did not answer in time: it has 5 seconds (tool_timeout_sec)',
  );
  await Promise.all(closed);
});

const silences: [string, (response: ServerResponse) => void][] = [
  ['never answers', () => {}],
  [
    'answers with events that are no answer',
    (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': ping\n\n'),
  ],
];
test.each(silences)(
  'a server that %s to the first request: its connection ends with the start',
  async (_what, behave) => {
    const asked = responseSoon();
    const hang = (response: ServerResponse) => {
      behave(response);
      asked.resolve(response);
    };
    const url = await startWebServer({ initialize: hang, 'server/discover': hang });
    const server = await mcpThread([], { config: web(url) });
    const closed = once(await asked.promise, 'close');
    server.clock.advance(10_000);
    await reached(server, 'failed');
    await closed;
  },
);

test('a server that does not hear that its session is over: its connections end', async () => {
  const asked = responseSoon();
  const url = await startWebServer({
    initialize: (response, id) =>
      respond(response, id, resultOf('initialize'), { 'mcp-session-id': 'session-1' }),
    DELETE: (response) => asked.resolve(response),
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'ready');
  await server.client.request('thread/delete', { threadId: server.threadId });
  await server.clock.timerOf(30_000);
  server.clock.advance(30_000);
  await once(await asked.promise, 'close');
});

test.each([
  ['x', '64 MiB'],
  ['[', '2000000 objects, arrays and members'],
  ['"k":1,', '2000000 objects, arrays and members'],
])('an answer of too many %s fails its call only', async (text, what) => {
  const part = text.repeat((1024 * 1024) / text.length);
  let calls = 0;
  const url = await startWebServer({
    'tools/call': (response, id) => {
      if (++calls > 1) return respond(response, id, resultOf('tools/call'));
      response.writeHead(200, { 'content-type': 'application/json' });
      const flood = () => {
        while (!response.destroyed && response.write(part));
      };
      response.on('drain', flood);
      flood();
    },
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'ready');
  await expect(callWeb(server)).rejects.toThrow(`the server sent a message of more than ${what}`);
  expect(await callWeb(server)).toEqual({ content: [{ type: 'text', text: 'seen' }] });
});

/** A response whose result has this JSON text. */
function answerWith(text: string) {
  return (response: ServerResponse, id: number) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
  };
}

const many = (part: string) => Array.from({ length: 400_000 }, () => part).join(',');
const members = () => Array.from({ length: 400_000 }, (_, n) => `"k${n}":1`).join(',');
const TOO_LARGE =
  /^the answer of the server is too large: it has more than 50000 values, or is nested too deeply$/;

test.each([
  ['resources/read', () => `{"contents":[${many('{}')}]}`],
  ['resources/read', () => `{"contents":{${members()}}}`],
  ['tools/call', () => `{"content":{${members()}}}`],
  ['tools/call', () => `{"content":[],"more":[${many('[]')}]}`],
])('an answer to %s of 400,000 values fails its call only', async (method, result) => {
  const capabilities = { tools: {}, resources: {} };
  const url = await startWebServer({
    initialize: (response, id) =>
      respond(response, id, { ...resultOf('initialize'), capabilities }),
    [method]: answerWith(result()),
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'ready');
  const { threadId } = server;
  const { message } = await (method === 'tools/call'
    ? server.client.refusal('mcpServer/tool/call', { threadId, server: 'web', tool: 'look' })
    : server.client.refusal('mcpServer/resource/read', { threadId, server: 'web', uri: 'a://b' }));
  expect(message).toMatch(TOO_LARGE);
});

const SEEN = { type: 'text', text: 'seen' };
const others = {
  type: 'text',
  text: '[Left out of this result: 400000 × a part that is not a text.]',
};
const KEPT_MAX = 17;

test.each([
  ['{}', [others]],
  ['1', [others]],
  ['{"type":"image"}', [others]],
  ['{"type":"text","text":1}', [others]],
  ['{"type":"text","text":"seen","annotations":1}', { length: KEPT_MAX, 0: SEEN }],
])('of a result of 400,000 parts such as %s only the texts are kept', async (part, content) => {
  const url = await startWebServer({
    'tools/call': answerWith(`{"content":[${many(part)}],"structuredContent":{"a":1}}`),
  });
  const server = await mcpThread([mcpCall('look', {}, { server: 'web' })], { config: web(url) });
  await runTurn(server);
  expect(mcpItems(server)[0]).toMatchObject({ status: 'completed', error: null });
  expect(mcpItems(server)[0]?.result?.content).toMatchObject(content);
});

test('a result of many small parts with annotations is taken, in one event, too', async () => {
  const part = { ...SEEN, annotations: { audience: ['user'], priority: 1 } };
  const result = {
    content: [
      { type: 'image', data: '', mimeType: 'image/png' },
      ...Array.from({ length: 8_000 }, () => part),
    ],
  };
  const url = await startWebServer({
    'tools/call': (response, id) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id, result });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${text}\n\n`);
    },
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'ready');
  const { content } = await callWeb(server);
  expect(content).toHaveLength(8_001);
  expect([content[0], content.at(-1)]).toEqual([
    SEEN,
    { ...others, text: others.text.replace('400000', '1') },
  ]);
});

test('a flood of requests of a server is answered by 200 requests at a time', async () => {
  const held: ServerResponse[] = [];
  let pings = 1_000;
  const url = await startWebServer({
    POST: (response) => void held.push(response),
    'tools/call': (response, id) => {
      const asked = Array.from({ length: pings }, (_, n) => ({
        jsonrpc: '2.0',
        id: n + 1_000,
        method: 'ping',
      }));
      const batch = [...asked, { jsonrpc: '2.0', id, result: { content: [] } }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(batch));
    },
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'ready');
  expect(await callWeb(server)).toEqual({ content: [] });
  await vi.waitFor(() => expect(held).toHaveLength(200), { timeout: 30_000 });
  for (const response of held.splice(0)) response.writeHead(202).end();
  pings = 1;
  await vi.waitFor(
    async () => {
      await callWeb(server);
      expect(held.length).toBeGreaterThan(0);
    },
    { timeout: 30_000 },
  );
  expect(held.length).toBeLessThanOrEqual(200);
});

test('a list whose pages are too long together fails the start before the server has sent them all', async () => {
  let pages = 0;
  const url = await startWebServer({
    'tools/list': (response, id) => {
      const description = 'x'.repeat(4 * 1024 * 1024);
      const tool = { name: `look${++pages}`, inputSchema: { type: 'object', description } };
      respond(response, id, { tools: [tool], nextCursor: `${pages}` });
    },
  });
  const server = await mcpThread([], { config: web(url) });
  await reached(server, 'failed');
  expect(states(server).at(-1)?.error).toBe(
    "the pages of the server's answers to tools/list have more than 16 MiB or 1000000 values together, or are nested too deeply",
  );
  expect(pages).toBe(4);
});

test.each([
  [
    'initialize',
    () =>
      `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"web","version":"1","icons":[${many('{}')}]}}`,
  ],
  [
    'server/discover',
    () => `{"supportedVersions":["2026-07-28"],"capabilities":{},"more":[${many('{}')}]}`,
  ],
  ['tools/list', () => `{"tools":[${many('{}')}]}`],
  ['tools/list', () => `{"tools":[${many('1')}]}`],
])('an answer to %s of 400,000 values fails the start', async (method, result) => {
  const server = await mcpThread([], {
    config: web(await startWebServer({ [method]: answerWith(result()) })),
  });
  await reached(server, 'failed');
  expect(states(server).at(-1)?.error).toMatch(TOO_LARGE);
});
