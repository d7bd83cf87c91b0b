import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listening } from '../model/loopback-proxy.ts';
import { browse, callWeb, logIn, statuses, type Thread, web } from './logging-in.ts';
import { mcpThread, until, withServers } from './mcp-thread.ts';
import { startOauthServer } from './oauth-server.ts';

const ended = ({ client }: Thread) => client.notifications('mcpServer/oauthLogin/completed');
const begin = ({ client }: Thread, more: object = {}) =>
  client.request('mcpServer/oauth/login', { name: 'web', ...more });
const clientOf = ({ authorizationUrl }: { authorizationUrl: string }) =>
  new URL(authorizationUrl).searchParams.get('client_id');

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}

test('a server that refuses the new token: the login fails at once, and the user is asked once', async () => {
  const oauth = await startOauthServer();
  oauth.refusesNew = true;
  const server = await mcpThread([], { config: web(oauth.url) });
  const { authorizationUrl } = await begin(server);
  await browse(authorizationUrl);
  await until(server, 'the end', () => ended(server).length === 1);
  expect(ended(server)[0]).toMatchObject({
    success: false,
    error: 'the server refused the login (HTTP 401)',
  });
  expect(oauth.asked).toEqual(['authorize read', 'token authorization_code']);
});

test('another login to a server ends the one before, and gets its port', async () => {
  const oauth = await startOauthServer();
  const config = withServers(
    `[mcp_servers.web]\nurl = "${oauth.url}"\n`,
    `mcp_oauth_callback_port = ${await freePort()}`,
  );
  const server = await mcpThread([], { config });
  const first = await begin(server);
  const second = await begin(server);
  await until(server, 'the end of the first', () => ended(server).length === 1);
  expect(ended(server)[0]).toMatchObject({
    loginId: first.loginId,
    success: false,
    error: 'another login to this server has begun',
  });
  await browse(second.authorizationUrl);
  await until(server, 'the end of the second', () => ended(server).length === 2);
  expect(ended(server)[1]).toMatchObject({ loginId: second.loginId, success: true });
});

test('a login that cannot begin frees its port, and says why', async () => {
  const oauth = await startOauthServer({
    metadata: { authorization_endpoint: 'ftp://somewhere.example/authorize' },
  });
  const config = withServers(
    `[mcp_servers.web]\nurl = "${oauth.url}"\n`,
    `mcp_oauth_callback_port = ${await freePort()}`,
  );
  const server = await mcpThread([], { config });
  const refusal = {
    message: expect.stringMatching(
      /^logging in to web failed: .*(address|protocol|URL|url)/i,
    ) as string,
  };
  await expect(begin(server)).rejects.toMatchObject(refusal);
  await expect(begin(server)).rejects.toMatchObject(refusal);
});

test('an error that begins like an address is an error', async () => {
  const oauth = await startOauthServer({
    instead: (path, response) =>
      path === '/register' && refuse(response, 'https://evil.example/login'),
  });
  const server = await mcpThread([], { config: web(oauth.url) });
  await expect(begin(server)).rejects.toThrow(
    /^logging in to web failed: .*https:\/\/evil\.example\/login/,
  );
});

function refuse(response: import('node:http').ServerResponse, text: string): true {
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: 'invalid_client_metadata', error_description: text }));
  return true;
}

test('a login whose time is over ends its requests to the authorization server', async () => {
  const closed: Promise<unknown>[] = [];
  const oauth = await startOauthServer({
    instead: (path, response) => {
      if (!path.startsWith('/.well-known/oauth-authorization-server')) return false;
      closed.push(once(response, 'close'));
      server.clock.advance(7_000);
      return true;
    },
  });
  const server = await mcpThread([], { config: web(oauth.url) });
  await until(server, 'the failure', () => statuses(server).includes('failed'));
  await expect(begin(server, { timeoutSecs: 7 })).rejects.toThrow(
    'logging in to web failed: nobody logged in within 7 seconds',
  );
  await Promise.all(closed);
});

test('clientRegistration: a client of another kind than the one that is asked for is not used', async () => {
  const oauth = await startOauthServer({
    metadata: { client_id_metadata_document_supported: true },
  });
  const document = 'https://client.example/heddle.json';
  const server = await mcpThread([], {
    config: web(oauth.url, `oauth = { client_metadata_url = "${document}" }`),
  });
  expect(clientOf(await begin(server, { clientRegistration: 'cimd' }))).toBe(document);
  expect(clientOf(await begin(server, { clientRegistration: 'dcr' }))).toBe('registered');
  expect(clientOf(await begin(server, { clientRegistration: 'cimd' }))).toBe(document);
  await logIn(server);
  expect(await callWeb(server)).toEqual({ content: [{ type: 'text', text: 'seen' }] });
});

test('tokens that are too long are not stored: the login fails and says so, and others stay', async () => {
  const [oauth, other] = [await startOauthServer(), await startOauthServer()];
  const config = withServers(
    `[mcp_servers.web]\nurl = "${oauth.url}"\n[mcp_servers.other]\nurl = "${other.url}"\n`,
  );
  const server = await mcpThread([], { config });
  expect(await logIn(server, { name: 'other' })).toMatchObject({ success: true });
  oauth.tokenChars = 100 * 1024;
  expect(await logIn(server)).toMatchObject({
    success: false,
    error:
      'the login to web cannot be stored: the response of its authorization server is longer than 64 KiB',
  });
  oauth.tokenChars = 300 * 1024;
  expect(await logIn(server)).toMatchObject({
    success: false,
    error: 'the server sent a message of more than 0.25 MiB',
  });
  expect(await server.client.request('mcpServer/oauth/logout', { name: 'other' })).toEqual({
    wasLoggedIn: true,
  });
});

test('a login with a file of logins that cannot be read says which file it is, and what to do', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url) });
  writeFileSync(join(server.home, 'heddle-mcp.credentials.json'), '[]');
  await expect(begin(server)).rejects.toThrow(
    /^logging in to web failed: .*heddle-mcp\.credentials\.json is not a JSON object: correct or/,
  );
});

test('a server that tells the token in an error: neither the model nor clients read it', async () => {
  const oauth = await startOauthServer();
  const server = await mcpThread([], { config: web(oauth.url) });
  await logIn(server);
  await until(server, 'the start', () => statuses(server).includes('ready'));
  oauth.tellsToken = true;
  await expect(callWeb(server)).rejects.toThrow('it ends with …');
  expect(JSON.stringify([server.client.messages, server.log.lines])).not.toContain('access-token');
});
