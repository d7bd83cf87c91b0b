import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  offeredBy,
  runTurn,
  withServers,
} from '../mcp/mcp-thread.ts';
import { message, response } from '../support/test-model.ts';

const HTTP = '[mcp_servers.web]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "TOKEN"\n';
const OFF = exampleServer('off', 'enabled = false');
const BROKEN = '[mcp_servers.broken]\ncommand = "x"\nurl = "https://example.com"\n';

test('mcpServerStatus/list shows the servers of a thread with their tools and resources', async () => {
  const server = await mcpThread([], {
    config: withServers(exampleServer('ex', 'disabled_tools = ["hang"]') + OFF + HTTP + BROKEN),
    env: { TOKEN: 'token-token-token' },
  });
  const { data, nextCursor } = await server.client.request('mcpServerStatus/list', {
    threadId: server.threadId,
  });
  expect([data.map(({ name }) => name), nextCursor]).toEqual([
    ['broken', 'ex', 'off', 'web'],
    null,
  ]);
  const [broken, ex, off, web] = data;
  expect(broken).toMatchObject({
    runtimeStatus: 'failed',
    toolsError: expect.stringMatching(/mcp_servers\.broken\.url: a server has either/) as string,
  });
  expect(ex).toMatchObject({
    name: 'ex',
    runtimeStatus: 'connected',
    authStatus: 'unsupported',
    httpOrigin: null,
    pluginId: null,
    serverInfo: {
      name: 'example',
      title: 'An example',
      version: '1.2.3',
      description: null,
      icons: null,
      websiteUrl: null,
    },
    serverCapabilities: { tools: { listChanged: true }, resources: {} },
    tools: {
      echo: {
        name: 'echo',
        title: 'Echo',
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      },
    },
    toolsError: null,
    resources: [{ uri: 'example://one', name: 'one' }],
    resourceTemplates: [{ uriTemplate: 'example://{id}', name: 'any' }],
  });
  expect(ex?.tools).not.toHaveProperty('hang');
  expect(off).toMatchObject({ runtimeStatus: 'disabled', tools: {} });
  expect(web).toMatchObject({
    runtimeStatus: 'failed',
    authStatus: 'bearerToken',
    httpOrigin: 'http://127.0.0.1:9',
  });
});

test('mcpServerStatus/list without a thread starts the configured servers; it pages, filters and leaves resources out', async () => {
  const server = await mcpThread([], {
    config: withServers(exampleServer('a') + exampleServer('b')),
  });
  const names = async (params: object) => {
    const { data, nextCursor } = await server.client.request('mcpServerStatus/list', params);
    return [data.map(({ name, runtimeStatus }) => [name, runtimeStatus]), nextCursor];
  };
  expect(await names({ limit: 1 })).toEqual([[['a', null]], '1']);
  expect(await names({ limit: 1, cursor: '1' })).toEqual([[['b', null]], null]);
  expect(await names({ serverName: 'b' })).toEqual([[['b', null]], null]);
  expect(await names({ serverName: 'c' })).toEqual([[], null]);
  await expect(names({ cursor: 'x' })).rejects.toMatchObject({ code: -32600 });
  const { data } = await server.client.request('mcpServerStatus/list', {
    detail: 'toolsAndAuthOnly',
  });
  expect(data[0]).toMatchObject({
    resources: [],
    resourceTemplates: [],
    tools: { echo: { name: 'echo' } },
  });
  const full = await server.client.request('mcpServerStatus/list', { detail: 'full' });
  expect(full.data[0]?.resources).toHaveLength(1);
});

test('mcpServer/tool/call gives the raw result, without items', async () => {
  const server = await mcpThread([]);
  const call = (params: object) =>
    server.client.request('mcpServer/tool/call', {
      threadId: server.threadId,
      server: 'ex',
      ...(params as { tool: string }),
    });
  expect(await call({ tool: 'echo', arguments: { message: 'x' } })).toEqual({
    content: [{ type: 'text', text: 'echo: x' }],
  });
  expect(await call({ tool: 'structured' })).toMatchObject({
    structuredContent: { answer: 42 },
    _meta: { from: 'example' },
  });
  expect(await call({ tool: 'fail' })).toMatchObject({ isError: true });
  expect(await call({ tool: 'write' })).toMatchObject({ content: [{ text: 'wrote nothing' }] });
  await expect(call({ tool: 'refuse' })).rejects.toMatchObject({
    code: -32001,
    message: 'refused outright',
  });
  await expect(call({ tool: 'none' })).rejects.toMatchObject({
    code: -32602,
    message: 'no tool none',
  });
  await expect(call({ tool: 'echo', server: 'other' })).rejects.toMatchObject({
    code: -32603,
    message: "unknown MCP server 'other'. The servers are: ex",
    data: { code: 'mcp_server_not_found' },
  });
  await expect(call({ tool: 'echo', arguments: [1] })).rejects.toMatchObject({
    code: -32600,
    message: 'params.arguments: expected an object',
  });
  await expect(
    call({ tool: 'echo', threadId: '00000000-0000-7000-8000-00000000ffff' }),
  ).rejects.toMatchObject({ code: -32600 });
  expect(mcpItems(server)).toEqual([]);
});

test('mcpServer/resource/read, for a thread and for the configuration', async () => {
  const server = await mcpThread([]);
  const contents = [{ uri: 'example://one', mimeType: 'text/plain', text: 'the text of one' }];
  const params = { server: 'ex', uri: 'example://one' };
  expect(
    await server.client.request('mcpServer/resource/read', {
      ...params,
      threadId: server.threadId,
      originCallId: 'c',
    }),
  ).toEqual({
    contents,
    originCallId: 'c',
  });
  expect(await server.client.request('mcpServer/resource/read', params)).toEqual({
    contents,
    originCallId: null,
  });
  const refused = (more: object) =>
    expect(server.client.request('mcpServer/resource/read', { ...params, ...more })).rejects;
  await refused({ uri: 'example://two' }).toMatchObject({
    code: -32002,
    message: 'no resource example://two',
  });
  await refused({ server: 'other' }).toMatchObject({ code: -32603 });
  await refused({ originCallId: 'c' }).toMatchObject({
    code: -32600,
    message: 'params.originCallId requires threadId',
  });
  await refused({ connectorId: 'c' }).toMatchObject({
    code: -32600,
    message: expect.stringMatching(/connectorId/) as string,
  });
});

test('config/mcpServer/reload: threads that are loaded use the servers that config.toml names now', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  appendFileSync(join(server.home, 'config.toml'), exampleServer('second'));
  expect(await server.client.request('config/mcpServer/reload', undefined)).toEqual({});
  server.model.push(
    response(mcpCall('echo', { message: 'late' }, { server: 'second' })),
    response(message('done')),
  );
  await runTurn(server);
  expect(mcpItems(server)).toMatchObject([{ server: 'second', status: 'completed' }]);
  const again = server.client
    .notifications('mcpServer/startupStatus/updated')
    .map(({ name, status }) => `${name} ${status}`);
  expect(again).toEqual(['ex starting', 'ex ready', 'second starting', 'second ready']);
});

test('a server that is taken out of config.toml is cancelled, and is not offered any more', async () => {
  const { writeFileSync } = await import('node:fs');
  const server = await mcpThread([]);
  await runTurn(server);
  writeFileSync(join(server.home, 'config.toml'), withServers(''));
  await server.client.request('config/mcpServer/reload', undefined);
  server.model.push(response(message('done')));
  await runTurn(server);
  expect(offeredBy(server.model.requests.at(-1))).toEqual([]);
  expect(server.client.notifications('mcpServer/startupStatus/updated').at(-1)).toMatchObject({
    name: 'ex',
    status: 'cancelled',
  });
});

test.each(['mcpServer/event/stream/start', 'mcpServer/event/stream/stop'])(
  '%s is refused by name',
  async (method) => {
    const server = await mcpThread([]);
    const refusal = { code: -32600, message: `${method} is not supported by this server` };
    await expect(server.client.request(method as never, {} as never)).rejects.toMatchObject(
      refusal,
    );
  },
);
