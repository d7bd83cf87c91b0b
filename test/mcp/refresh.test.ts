import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CountingIds } from '../support/counting-ids.ts';
import { startServer } from '../support/test-server.ts';
import { callWeb, logIn, statuses, type Thread, web } from './logging-in.ts';
import { mcpThread, until } from './mcp-thread.ts';
import { startOauthServer } from './oauth-server.ts';

const SEEN = { content: [{ type: 'text', text: 'seen' }] };
const isRefresh = (asked: string) => asked === 'token refresh_token';
const stored = ({ home }: Thread) =>
  readFileSync(join(home, 'heddle-mcp.credentials.json'), 'utf8');

/** A gate that is closed until it is opened. */
function closedGate() {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  return { gate, open: () => open() };
}

/** Waits until the authorization server has got a request of this kind. */
async function loggedIn(
  url: string,
  options: { more?: string; env?: Record<string, string> } = {},
): Promise<Thread> {
  const server = await mcpThread([], {
    config: web(url, options.more),
    ...(options.env && { env: options.env }),
  });
  await logIn(server);
  await until(server, 'the start', () => statuses(server).includes('ready'));
  return server;
}

test('a refresh sends the resource, the client and the secret of the configuration, and none of them is stored', async () => {
  const oauth = await startOauthServer({ resource: 'https://api.example/' });
  const more =
    'oauth_resource = "https://api.example/"\noauth = { client_id = "client-1", client_secret_env_var = "CLIENT_SECRET" }';
  const first = await loggedIn(oauth.url, { more, env: { CLIENT_SECRET: 'the-first-secret' } });
  expect(oauth.tokenRequest).toMatchObject({
    resource: 'https://api.example/',
    basic: 'client-1:the-first-secret',
  });
  expect(stored(first)).not.toContain('the-first-secret');
  oauth.valid.clear();
  const again = await first.restart({ env: { CLIENT_SECRET: 'the-second-secret' } });
  await again.client.request('thread/start', {});
  await until(again, 'the start', () =>
    again.client
      .notifications('mcpServer/startupStatus/updated')
      .some(({ status }) => status === 'ready'),
  );
  expect(oauth.tokenRequest).toMatchObject({
    grant_type: 'refresh_token',
    resource: 'https://api.example/',
    basic: 'client-1:the-second-secret',
  });
});

test('two servers that share a home refresh a token once', async () => {
  const oauth = await startOauthServer();
  const first = await loggedIn(oauth.url);
  const other = await startServer({
    folder: first.folder,
    config: web(oauth.url),
    pid: 4712,
    ids: new CountingIds(1_000),
  });
  const { thread } = await other.client.request('thread/start', {});
  await until(other, 'the start', () =>
    other.client
      .notifications('mcpServer/startupStatus/updated')
      .some(({ status }) => status === 'ready'),
  );
  oauth.valid.clear();
  const { gate, open } = closedGate();
  oauth.gate = gate;
  const calls = [
    callWeb(first),
    other.client.request('mcpServer/tool/call', {
      threadId: thread.id,
      server: 'web',
      tool: 'look',
    }),
  ];
  // One of them refreshes, the other waits for the lock.
  const waiting = await Promise.race(
    [first, other].map(({ clock }) => clock.timerOf(50).then(() => clock)),
  );
  open();
  await Promise.race(calls);
  waiting.advance(50);
  expect(await Promise.all(calls)).toEqual([SEEN, SEEN]);
  expect(oauth.asked.filter(isRefresh)).toHaveLength(1);
});

test('a logout in the course of a refresh stays', async () => {
  const oauth = await startOauthServer();
  const server = await loggedIn(oauth.url);
  oauth.valid.clear();
  const { gate, open } = closedGate();
  oauth.gate = gate;
  const called = callWeb(server).catch((error: Error) => error.message);
  await server.clock.timerOf(30_000);
  expect(await server.client.request('mcpServer/oauth/logout', { name: 'web' })).toEqual({
    wasLoggedIn: true,
  });
  open();
  await called;
  expect(stored(server)).not.toMatch(/token/);
});

test('a refresh that is not answered ends after 30 seconds; the call fails, and the next one refreshes the token', async () => {
  const oauth = await startOauthServer();
  const server = await loggedIn(oauth.url);
  oauth.valid.clear();
  oauth.gate = new Promise(() => {});
  const called = callWeb(server);
  await server.clock.timerOf(30_000);
  server.clock.advance(30_000);
  await expect(called).rejects.toThrow(
    'the login could not be refreshed: the authorization server did not answer within 30 seconds',
  );
  oauth.gate = Promise.resolve();
  expect(await callWeb(server)).toEqual(SEEN);
  expect(statuses(server).at(-1)).toBe('ready');
});

test.each([
  ['fails', 502, '<html>', 'HTTP 502'],
  ['limits requests', 429, '{"error":"too_many_requests"}', 'too_many_requests'],
  ['is of another kind', 200, '<html>', 'its answer is not valid'],
])(
  'while the authorization server %s, calls fail with the reason, and no login is required',
  async (_what, code, body, reason) => {
    let isDown = false;
    const down = (path: string, response: ServerResponse) => {
      if (isDown && path === '/token') response.writeHead(code).end(body);
      return isDown && path === '/token';
    };
    const oauth = await startOauthServer({ instead: down });
    const server = await loggedIn(oauth.url);
    oauth.valid.clear();
    isDown = true;
    await expect(callWeb(server)).rejects.toThrow(/the login could not be refreshed: .*/);
    await expect(callWeb(server)).rejects.toThrow(reason);
    isDown = false;
    expect(await callWeb(server)).toEqual(SEEN);
    expect(statuses(server).at(-1)).toBe('ready');
  },
);

test('a call whose token is refused after another call has refreshed it takes the new one', async () => {
  const oauth = await startOauthServer();
  const server = await loggedIn(oauth.url);
  oauth.valid.clear();
  const { gate, open } = closedGate();
  oauth.refusalGates.push(Promise.resolve(), gate);
  const calls = [callWeb(server), callWeb(server)];
  expect(await Promise.race(calls)).toEqual(SEEN);
  open();
  expect(await Promise.all(calls)).toEqual([SEEN, SEEN]);
  expect(oauth.asked.filter(isRefresh)).toHaveLength(1);
});

test('a refresh goes on when the connection that needs it ends, and its tokens are stored', async () => {
  const oauth = await startOauthServer();
  const first = await loggedIn(oauth.url);
  oauth.valid.clear();
  const server = await first.restart();
  const { gate, open } = closedGate();
  oauth.gate = gate;
  await server.client.request('thread/start', {});
  await server.clock.timerOf(30_000);
  server.clock.advance(10_000);
  const states = () =>
    server.client.notifications('mcpServer/startupStatus/updated').map(({ status }) => status);
  await until(server, 'the failure', () => states().includes('failed'));
  open();
  server.clock.advance(1_000);
  await server.client.request('thread/start', {});
  await until(server, 'the start', () => states().includes('ready'));
  expect(oauth.asked.filter(isRefresh)).toHaveLength(1);
});

test('a token that cannot be refreshed before it ends is used for a minute without another try', async () => {
  let isDown = false;
  let tries = 0;
  const down = (path: string, response: ServerResponse) => {
    if (!isDown || path !== '/token') return false;
    tries++;
    response.writeHead(503).end();
    return true;
  };
  const oauth = await startOauthServer({ instead: down });
  oauth.expiresIn = 90;
  const server = await loggedIn(oauth.url);
  server.clock.advance(40_000);
  isDown = true;
  expect(await Promise.all([callWeb(server), callWeb(server), callWeb(server)])).toEqual([
    SEEN,
    SEEN,
    SEEN,
  ]);
  expect(await callWeb(server)).toEqual(SEEN);
  expect(tries).toBe(1);
  server.clock.advance(60_000);
  expect(await callWeb(server)).toEqual(SEEN);
  expect(tries).toBe(2);
});

test('a refresh token that is refused is not sent again, and the server requires a login', async () => {
  const oauth = await startOauthServer();
  const server = await loggedIn(oauth.url);
  oauth.valid.clear();
  oauth.refreshToken = 'another';
  await expect(callWeb(server)).rejects.toThrow(/login/);
  expect(oauth.asked.filter(isRefresh)).toHaveLength(1);
});
