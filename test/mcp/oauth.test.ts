import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callWeb as call, logIn, statuses, web } from './logging-in.ts';
import { exampleServer, mcpThread, until, withServers } from './mcp-thread.ts';
import { startOauthServer } from './oauth-server.ts';
import { startWebServer } from './web-server.ts';

test('a server that wants a login says so; after the login it is ready, and the token is stored for the owner only', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url) });
  await until(server, 'the failure', () => statuses(server).includes('failed'));
  expect(server.client.notifications('mcpServer/startupStatus/updated').at(-1)).toEqual({
    threadId: server.threadId,
    name: 'web',
    status: 'failed',
    error: 'the server requires a login',
    failureReason: 'reauthenticationRequired',
  });
  const status = async () =>
    (await server.client.request('mcpServerStatus/list', { threadId: server.threadId })).data[0];
  expect(await status()).toMatchObject({
    authStatus: 'notLoggedIn',
    runtimeStatus: 'authenticationRequired',
  });
  const completed = await logIn(server);
  expect(completed).toMatchObject({
    name: 'web',
    success: true,
    error: null,
    threadId: server.threadId,
  });
  await until(server, 'the start', () => statuses(server).includes('ready'));
  expect(await call(server)).toEqual({ content: [{ type: 'text', text: 'seen' }] });
  expect(await status()).toMatchObject({ authStatus: 'oAuth', runtimeStatus: 'connected' });
  expect(oauth.asked).toEqual(['authorize read', 'token authorization_code']);
  const file = join(server.home, 'heddle-mcp.credentials.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain('access-token');
  expect(JSON.stringify(server.client.messages)).not.toMatch(/access-token|refresh-token/);
});

test('a token is refreshed before it ends, and if the server refuses it', async () => {
  const oauth = await startOauthServer();
  oauth.expiresIn = 10;
  const server = await mcpThread([], { config: web(oauth.url) });
  await logIn(server, { scopes: ['write'] });
  await until(server, 'the start', () => statuses(server).includes('ready'));
  await call(server);
  const refreshed = oauth.asked.filter((each) => each === 'token refresh_token').length;
  expect([oauth.asked.slice(0, 2), refreshed > 0]).toEqual([
    ['authorize write', 'token authorization_code'],
    true,
  ]);
  oauth.expiresIn = 3600;
  await call(server);
  const before = oauth.asked.length;
  oauth.valid.clear();
  expect(await call(server)).toMatchObject({ content: [{ text: 'seen' }] });
  expect(oauth.asked.slice(before)).toEqual(['token refresh_token']);
});

test('the tokens of a login and of a refresh are hidden in the log of messages before anything else happens with them', async () => {
  const hidden: string[] = [];
  const tap = {
    received() {},
    sent() {},
    hide: (secrets: readonly string[]) => void hidden.push(...secrets),
  };
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url), tap });
  const tokens = () => {
    const all = readFileSync(join(server.home, 'heddle-mcp.credentials.json'), 'utf8');
    return [...all.matchAll(/"(?:access|refresh)_token": "([^"]+)"/g)].map(([, token]) => token);
  };
  await logIn(server);
  expect(hidden).toEqual(expect.arrayContaining(tokens()));
  await until(server, 'the start', () => statuses(server).includes('ready'));
  oauth.valid.clear();
  const before = tokens();
  await call(server);
  expect(tokens()).not.toEqual(before);
  expect(hidden).toEqual(expect.arrayContaining(tokens()));
});

test('a login outlives the server, until mcpServer/oauth/logout', async () => {
  const oauth = await startOauthServer();
  const first = await mcpThread([], { config: web(oauth.url) });
  await logIn(first);
  const again = await first.restart();
  await again.client.request('thread/start', {});
  const ready = () =>
    again.client
      .notifications('mcpServer/startupStatus/updated')
      .some(({ status }) => status === 'ready');
  await until(again, 'the start', ready);
  expect(await again.client.request('mcpServer/oauth/logout', { name: 'web' })).toEqual({
    wasLoggedIn: true,
  });
  expect(await again.client.request('mcpServer/oauth/logout', { name: 'web' })).toEqual({
    wasLoggedIn: false,
  });
  expect(readFileSync(join(first.home, 'heddle-mcp.credentials.json'), 'utf8')).not.toMatch(
    /token/,
  );
});

test('a login that nobody finishes ends after its time', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url) });
  await until(server, 'the failure', () => statuses(server).includes('failed'));
  const { loginId } = await server.client.request('mcpServer/oauth/login', {
    name: 'web',
    timeoutSecs: 7,
  });
  server.clock.advance(7_000);
  await until(
    server,
    'the end',
    () => server.client.notifications('mcpServer/oauthLogin/completed').length === 1,
  );
  expect(server.client.notifications('mcpServer/oauthLogin/completed')).toEqual([
    {
      name: 'web',
      success: false,
      error: 'nobody logged in within 7 seconds',
      loginId,
      threadId: null,
    },
  ]);
});

test('an answer with another state is not taken; one that refuses ends the login', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url) });
  const { authorizationUrl } = await server.client.request('mcpServer/oauth/login', {
    name: 'web',
  });
  const { searchParams } = new URL(authorizationUrl);
  const back = (query: Record<string, string>) =>
    fetch(`${searchParams.get('redirect_uri')}?${new URLSearchParams(query)}`);
  expect((await back({ code: 'stolen', state: 'other' })).status).toBe(404);
  // A path that is no URL: any page of a browser can ask for it.
  expect((await fetch(`${new URL(searchParams.get('redirect_uri') ?? '').origin}//`)).status).toBe(
    404,
  );
  expect(
    (
      await back({
        error: 'access_denied',
        error_description: 'Not you',
        state: searchParams.get('state') ?? '',
      })
    ).status,
  ).toBe(200);
  await until(
    server,
    'the end',
    () => server.client.notifications('mcpServer/oauthLogin/completed').length === 1,
  );
  const [completed] = server.client.notifications('mcpServer/oauthLogin/completed');
  expect(completed).toMatchObject({
    success: false,
    error: expect.stringContaining('access_denied: Not you') as string,
  });
  expect(oauth.asked).toEqual([]);
});

test.each([
  [exampleServer('web'), {}, 'OAuth login is only supported for streamable HTTP servers.'],
  ['', {}, "No MCP server named 'web' found. The servers are: none"],
  [
    '[mcp_servers.web]\nurl = "https://e.com"\nbearer_token_env_var = "T"\n',
    {},
    'the MCP server web gets its token from T: it needs no login',
  ],
  [
    '[mcp_servers.web]\nurl = "https://e.com"\nhttp_headers = { authorization = "Bearer t" }\n',
    {},
    'the MCP server web has an Authorization header in the configuration: it needs no login',
  ],
  [
    '[mcp_servers.web]\nurl = "https://e.com"\nargs = []\n',
    {},
    'mcp_servers.web.args: only a server with a command can have it',
  ],
  [
    '[mcp_servers.web]\nurl = "http://127.0.0.1:9/"\n',
    { clientRegistration: 'cimd' as const },
    'clientRegistration "cimd" needs the URL',
  ],
  [
    '[mcp_servers.web]\nurl = "http://127.0.0.1:9/"\noauth = { client_id = "c" }\n',
    { clientRegistration: 'dcr' as const },
    'mcp_servers.web.oauth.client_id names a client that is registered already',
  ],
])('mcpServer/oauth/login is refused: %s', async (servers, more, text) => {
  const server = await mcpThread([], { config: withServers(servers) });
  const refusal = { code: -32600, message: expect.stringContaining(text) as string };
  await expect(
    server.client.request('mcpServer/oauth/login', { name: 'web', ...more }),
  ).rejects.toMatchObject(refusal);
});

test('a server with an Authorization header in the configuration is not shown as logged in', async () => {
  const url = await startWebServer();
  const server = await mcpThread([], {
    config: web(url, 'http_headers = { authorization = "Bearer configured" }'),
  });
  await until(server, 'the start', () => statuses(server).includes('ready'));
  const { data } = await server.client.request('mcpServerStatus/list', {
    threadId: server.threadId,
  });
  expect(data.map(({ authStatus }) => authStatus)).toEqual(['bearerToken']);
});

test('a server whose variable with the token is not set says so, and asks for no login', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], {
    config: web(oauth.url, 'bearer_token_env_var = "WEB_TOKEN"'),
  });
  await until(server, 'the failure', () => statuses(server).includes('failed'));
  const updates = server.client.notifications('mcpServer/startupStatus/updated');
  expect(updates.filter(({ status }) => status === 'failed')).toMatchObject([
    {
      error: 'the server wants a token, and the variable WEB_TOKEN is not set',
      failureReason: null,
    },
  ]);
});
