import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { McpTools } from '../../../src/agent/mcp/mcp-tools.ts';
import type { ThreadContext } from '../../../src/agent/thread-context.ts';
import type { ConfigBatchWriteParams } from '../../../src/protocol/generated/types.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import {
  EXAMPLE_SERVER,
  exampleServer,
  mcpCall,
  mcpThread,
  offeredBy,
  runTurn,
  textOf,
  until,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { answer, question } from '../../support/asking.ts';
import { message, response } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';

type Thread = TestServer & { threadId: string };

const EXAMPLE = { command: process.execPath, args: [EXAMPLE_SERVER] };
const SECOND = { keyPath: 'mcp_servers.second', value: EXAMPLE, mergeStrategy: 'replace' as const };

const reloading = (...edits: ConfigBatchWriteParams['edits']) => ({
  edits,
  reloadUserConfig: true,
});
const startupStates = ({ client }: Pick<Thread, 'client'>) =>
  client
    .notifications('mcpServer/startupStatus/updated')
    .map(({ name, status }) => `${name} ${status}`);

/** Runs a turn whose model calls the tool `echo` of this server. */
async function callsEcho(server: Thread, of: string): Promise<void> {
  server.model.push(
    response(mcpCall('echo', { message: of }, { server: of, callId: `of-${of}` })),
    response(message('done')),
  );
  await runTurn(server);
  expect(textOf(server, `of-${of}`)).toContain(`echo: ${of}`);
}

test('thread/resume of a loaded thread with other servers: the thread has them', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  const { threadId } = server;
  await server.client.request('thread/resume', {
    threadId,
    config: { mcp_servers: { mine: EXAMPLE } },
  });
  await callsEcho(server, 'mine');
  expect(startupStates(server)).toContain('mine ready');
});

test('config/batchWrite with reloadUserConfig: the model, mcpServerStatus/list and mcpServer/tool/call have the new servers', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  const off = {
    keyPath: 'mcp_servers.ex.enabled',
    value: false,
    mergeStrategy: 'replace' as const,
  };
  await server.client.request('config/batchWrite', reloading(SECOND, off));
  await callsEcho(server, 'second');
  expect(offeredBy(server.model.requests.at(-1), 'ex')).toEqual([]);
  expect(startupStates(server)).toEqual([
    'ex starting',
    'ex ready',
    'ex cancelled',
    'second starting',
    'second ready',
  ]);
  const { threadId } = server;
  const { data } = await server.client.request('mcpServerStatus/list', { threadId });
  expect(data.map(({ name, runtimeStatus }) => [name, runtimeStatus])).toEqual([
    ['ex', 'disabled'],
    ['second', 'connected'],
  ]);
  const call = { threadId, server: 'second', tool: 'echo', arguments: { message: 'x' } };
  expect(await server.client.request('mcpServer/tool/call', call)).toMatchObject({
    content: [{ text: 'echo: x' }],
  });
});

test('each reload counts: one of the servers does not hide a later one of the whole configuration', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  await server.client.request('config/mcpServer/reload', undefined);
  const check = {
    command: '/bin/sh',
    args: ['-c', 'echo \'{"decision":"block","reason":"not today"}\''],
  };
  const edit = { keyPath: 'mcp_safety_check', value: check, mergeStrategy: 'replace' as const };
  await server.client.request('config/batchWrite', reloading(edit, SECOND));
  server.model.push(
    response(mcpCall('echo', {}, { server: 'second', callId: 'c' })),
    response(message('done')),
  );
  await runTurn(server);
  expect(textOf(server, 'c')).toContain('not today');
});

test('a running turn has new servers with its next request', async () => {
  const elicitation = { message: 'Go on?', requestedSchema: { type: 'object', properties: {} } };
  const server = await mcpThread([
    mcpCall('ask', { method: 'elicitation/create', request: elicitation }),
  ]);
  const turn = runTurn(server);
  const asked = await question(server.client, 'mcpServer/elicitation/request');
  await server.client.request('config/batchWrite', reloading(SECOND));
  await until(server, 'the second server', () => startupStates(server).includes('second ready'));
  answer(server.client, asked, { action: 'decline', content: null, _meta: null });
  await turn;
  expect(offeredBy(server.model.requests.at(-1), 'second')).not.toEqual([]);
});

test('a reload does not wait for required servers, and one that fails neither refuses the change nor stops it', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  const second = await server.client.request('thread/start', {});
  const mute = { ...EXAMPLE, env: { MCP_MODE: 'mute' }, required: true };
  const none = { command: '/no/such/program', required: true };
  await server.client.request(
    'config/batchWrite',
    reloading(
      { ...SECOND, keyPath: 'mcp_servers.mute', value: mute },
      { ...SECOND, keyPath: 'mcp_servers.none', value: none },
    ),
  );
  await until(
    server,
    'the failures',
    () => startupStates(server).filter((each) => each === 'none failed').length === 2,
  );
  const { data } = await server.client.request('mcpServerStatus/list', {
    threadId: second.thread.id,
    serverName: 'none',
  });
  expect(data).toMatchObject([
    { runtimeStatus: 'failed', toolsError: expect.stringContaining('/no/such/program') as string },
  ]);
});

test('a thread that cannot have the new configuration keeps its own and is told so; the others have it', async () => {
  const profile = '[permissions.mine]\nextends = ":workspace"\n';
  const server = await mcpThread([], {
    config: withServers(exampleServer() + profile),
    thread: { config: { default_permissions: 'mine' } },
  });
  const { threadId } = server;
  const other = await server.client.request('thread/start', {});
  const gone = { keyPath: 'permissions', value: null, mergeStrategy: 'replace' as const };
  await server.client.request('config/batchWrite', reloading(gone, SECOND));
  const { message: text } = await server.client.waitFor(
    'warning',
    (warning) => warning.threadId === threadId,
  );
  expect(text).toMatch(
    /^This thread keeps its configuration, because it cannot have the new one: .*there is no permission profile `mine`/,
  );
  await server.client.waitFor(
    'mcpServer/startupStatus/updated',
    (each) => each.threadId === other.thread.id && each.name === 'second',
  );
  expect(startupStates(server).filter((each) => each === 'second starting')).toHaveLength(1);
});

test('after turn/start with another working directory, servers are told of it and stay; those that are added start in it', async () => {
  const log = join(tempFolder(), 'log');
  const other = tempFolder();
  const server = await mcpThread([], {
    config: withServers(exampleServer('ex', '', { MCP_LOG: log })),
  });
  const { threadId } = server;
  await runTurn(server);
  server.model.push(
    response(mcpCall('ask', { method: 'roots/list', request: {} }, { callId: 'r' })),
    response(message('done')),
  );
  await runTurn(server, { cwd: other });
  expect(textOf(server, 'r')).toContain(pathToFileURL(other).href);
  const { data } = await server.client.request('mcpServerStatus/list', { threadId });
  expect(data).toMatchObject([{ runtimeStatus: 'connected' }]);
  const noted = readFileSync(log, 'utf8');
  expect([
    noted.match(/^pid /gm)?.length,
    noted.includes('notifications/roots/list_changed'),
  ]).toEqual([1, true]);
  await server.client.request('config/batchWrite', reloading(SECOND));
  server.model.push(
    response(mcpCall('where', {}, { server: 'second', callId: 'w' })),
    response(message('done')),
  );
  await runTurn(server);
  expect(textOf(server, 'w')).toContain(`\\"cwd\\":\\"${other}\\"`);
});

test('a closed thread starts no servers', async () => {
  const threads: ThreadContext[] = [];
  const partKinds = [
    {
      create: (thread: ThreadContext) => {
        threads.push(thread);
        return {};
      },
    },
  ];
  const server = await mcpThread([], { partKinds });
  await runTurn(server);
  const [thread] = threads;
  const call = { server: 'ex', tool: 'echo', input: { message: 'x' } };
  const callMcpTool = () =>
    thread?.parts.get(McpTools).callAside(call, new AbortController().signal);
  expect(await callMcpTool()).toBe('echo: x');
  await server.client.request('thread/archive', { threadId: server.threadId });
  expect(callMcpTool()).toBeNull();
});
