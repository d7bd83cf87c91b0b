import { expect, test } from 'vitest';
import { HttpServer } from './http-server.ts';
import { mcpCall, mcpThread, runTurn, textOf, until, withServers } from './mcp-thread.ts';

async function withHttpServer(calls: Parameters<typeof mcpThread>[0] = []) {
  const web = await HttpServer.start();
  const server = await mcpThread(calls, {
    config: withServers(`[mcp_servers.web]\nurl = "${web.url}"\n`),
  });
  const updates = () => server.client.notifications('mcpServer/startupStatus/updated');
  await until(server, 'the start', () => updates().some(({ status }) => status === 'ready'));
  const { threadId } = server;
  const look = (what: string) =>
    server.client.request('mcpServer/tool/call', {
      threadId,
      server: 'web',
      tool: 'look',
      arguments: { what },
    });
  return { ...server, web, updates, look };
}

const seen = (what: string) => ({ content: [{ type: 'text', text: `seen: ${what}` }] });

test('calls of a session that the server has forgotten are made in a new one, each once', async () => {
  const { web, look, updates } = await withHttpServer();
  // The answer to `late` comes when the call of `early` has begun the new session.
  web.held.set('late', web.forget());
  expect(await Promise.all([look('late'), look('early')])).toEqual([seen('late'), seen('early')]);
  expect(web.made.sort()).toEqual(['early', 'late']);
  expect(updates().map(({ status }) => status)).toEqual(['starting', 'ready', 'starting', 'ready']);
});

test('a call is not made in a new session in which its tool has another definition', async () => {
  const server = await withHttpServer([mcpCall('look', { what: 'it' }, { server: 'web' })]);
  server.web.description = 'Looks, and tells others.';
  void server.web.forget();
  await runTurn(server);
  expect(textOf(server)).toContain(
    'the MCP server web has changed the definition of the tool look',
  );
  expect(server.web.made).toEqual([]);
});

test('a server that refuses the login in the course of a call needs a login from then on', async () => {
  const server = await withHttpServer();
  const { web, look, updates, client, threadId } = server;
  web.refusal = 401;
  await expect(look('it')).rejects.toThrow(/login/);
  expect(updates().at(-1)).toMatchObject({
    status: 'failed',
    failureReason: 'reauthenticationRequired',
  });
  const { data } = await client.request('mcpServerStatus/list', { threadId });
  expect(data).toMatchObject([
    { runtimeStatus: 'authenticationRequired', authStatus: 'notLoggedIn' },
  ]);
  web.refusal = null;
  await client.request('config/mcpServer/reload', undefined);
  await until(server, 'another start', () => updates().at(-1)?.status === 'ready');
  expect(await look('it')).toEqual(seen('it'));
});
