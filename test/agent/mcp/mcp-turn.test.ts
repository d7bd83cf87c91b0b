import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../config/temp-folder.ts';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  offeredBy,
  PNG,
  runTurn,
  textOf,
  toldOf,
  until,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { functionCall, message, response } from '../../support/test-model.ts';

const SHOWN = { mcpAppUi: null, appContext: null, pluginId: null };

test('the tools of a server are offered in a namespace, with its instructions', async () => {
  const server = await mcpThread([]);
  await runTurn(server);
  const tools = offeredBy(server.model.request(1));
  expect(tools.find(({ name }) => name === 'echo')).toEqual({
    type: 'function',
    name: 'echo',
    namespace: { name: 'mcp__ex', description: 'Use it with care.' },
    description: 'Says it again',
    parameters: { type: 'object', properties: { message: { type: 'string' } }, required: [] },
  });
  expect(server.client.notifications('mcpServer/startupStatus/updated')).toEqual(
    ['starting', 'ready'].map((status) => ({
      threadId: server.threadId,
      name: 'ex',
      status,
      error: null,
      failureReason: null,
    })),
  );
});

test('a call is an mcpToolCall item, and its text goes to the model', async () => {
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })]);
  const { id } = await runTurn(server);
  const begun = {
    startedAtMs: expect.any(Number) as number,
    completedAtMs: null,
    type: 'mcpToolCall',
    id: 'call_1',
    server: 'ex',
    tool: 'echo',
    status: 'inProgress',
    arguments: { message: 'hi' },
    readOnlyHint: true,
    result: null,
    error: null,
    durationMs: null,
    ...SHOWN,
  };
  const started = server.client
    .notifications('item/started')
    .find(({ item }) => item.type === 'mcpToolCall');
  expect(started).toEqual({
    threadId: server.threadId,
    turnId: id,
    item: begun,
    startedAtMs: expect.any(Number) as number,
  });
  const result = {
    content: [{ type: 'text', text: 'echo: hi' }],
    structuredContent: null,
    _meta: null,
  };
  expect(mcpItems(server)).toEqual([
    {
      ...begun,
      status: 'completed',
      result,
      durationMs: expect.any(Number) as number,
      completedAtMs: expect.any(Number) as number,
    },
  ]);
  expect(toldOf(server)).toEqual([
    {
      type: 'input_text',
      text: expect.stringMatching(/^Wall time: \d+\.\d{4} seconds\nOutput:$/) as string,
    },
    { type: 'input_text', text: 'echo: hi' },
  ]);
});

test('calls by the flat name reach the tool, too', async () => {
  const server = await mcpThread([functionCall('mcp__ex__echo', { message: 'hi' })]);
  await runTurn(server);
  expect(textOf(server)).toMatch(/echo: hi/);
});

test('structured content, errors of tools and errors of the server', async () => {
  const server = await mcpThread([
    mcpCall('structured', {}, { callId: 'a' }),
    mcpCall('fail', {}, { callId: 'b' }),
    mcpCall('refuse', {}, { callId: 'c' }),
    mcpCall('echo', { message: 'again' }, { callId: 'd' }),
  ]);
  await runTurn(server);
  const shown = mcpItems(server).map(({ status, result, error }) => ({ status, result, error }));
  expect(shown).toEqual([
    {
      status: 'completed',
      result: {
        content: [{ type: 'text', text: 'plain' }],
        structuredContent: { answer: 42 },
        _meta: { from: 'example' },
      },
      error: null,
    },
    {
      status: 'failed',
      result: {
        content: [{ type: 'text', text: 'it went wrong' }],
        structuredContent: null,
        _meta: null,
      },
      error: null,
    },
    { status: 'failed', result: null, error: { message: 'refused outright' } },
    {
      status: 'completed',
      result: {
        content: [{ type: 'text', text: 'echo: again' }],
        structuredContent: null,
        _meta: null,
      },
      error: null,
    },
  ]);
  expect(toldOf(server, 'a')).toMatch(/^Wall time: .*\nOutput:\n\{"answer":42\}$/);
  expect(textOf(server, 'b')).toMatch(/it went wrong/);
  expect(textOf(server, 'c')).toMatch(/refused outright/);
});

test('an image reaches the model as an image', async () => {
  const server = await mcpThread([mcpCall('picture')]);
  await runTurn(server);
  expect(toldOf(server)).toContainEqual({
    type: 'input_image',
    image_url: `data:image/png;base64,${PNG}`,
    detail: 'high',
  });
});

test('progress is announced', async () => {
  const server = await mcpThread([mcpCall('progress')]);
  const { id: turnId } = await runTurn(server);
  expect(server.client.notifications('item/mcpToolCall/progress')).toEqual([
    { threadId: server.threadId, turnId, itemId: 'call_1', message: 'half' },
  ]);
});

test('a long result is cut for the model, and the item keeps it', async () => {
  const server = await mcpThread([mcpCall('flood', { bytes: 500_000 })]);
  await runTurn(server);
  expect(textOf(server).length).toBeLessThan(50_000);
  expect(textOf(server)).toMatch(/\[… \d+ characters truncated …\]/);
  expect(JSON.stringify(mcpItems(server)[0]?.result).length).toBeGreaterThan(500_000);
});

test('a result that is too long for the server is an error', async () => {
  const server = await mcpThread([mcpCall('flood', { bytes: 17 * 1024 * 1024 })]);
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'the answer of the server is longer than 16 MiB, or nested too deeply',
  );
});

test('enabled_tools and disabled_tools choose the tools, and a warning names unknown ones; a disabled server is not started', async () => {
  const log = join(tempFolder(), 'log');
  const servers =
    exampleServer('ex', 'enabled_tools = ["echo", "fail", "eccho"]\ndisabled_tools = ["fail"]') +
    exampleServer('off', 'enabled = false', { MCP_LOG: log });
  const server = await mcpThread([], { config: withServers(servers) });
  await runTurn(server);
  expect(offeredBy(server.model.request(1)).map(({ name }) => name)).toEqual(['echo']);
  expect([offeredBy(server.model.request(1), 'off'), existsSync(log)]).toEqual([[], false]);
  expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([
    'The MCP server ex has no tools of these names in enabled_tools: eccho.',
  ]);
});

test('a server that fails is announced with the reason, without secrets, and the turn runs', async () => {
  const servers = `${exampleServer('bad', '', { MCP_MODE: 'dies' })}[mcp_servers.none]\ncommand = "/no/such/program"\n`;
  const server = await mcpThread([], { config: withServers(servers) });
  expect((await runTurn(server)).status).toBe('completed');
  const failed = server.client
    .notifications('mcpServer/startupStatus/updated')
    .filter(({ status }) => status === 'failed');
  const errors = new Map(failed.map(({ name, error }) => [name, error]));
  expect(errors.get('bad')).toMatch(/^it ended with exit code 3: cannot work like this: password=/);
  expect(errors.get('bad')).not.toMatch(/hunter2/);
  expect(errors.get('none')).toMatch(/\/no\/such\/program/);
});

test('a server that never answers has failed after its startup timeout, for which the turn waits', async () => {
  const server = await mcpThread([], {
    config: withServers(exampleServer('mute', 'startup_timeout_sec = 7', { MCP_MODE: 'mute' })),
  });
  const turn = runTurn(server);
  await server.clock.timerOf(7_000);
  server.clock.advance(7_000);
  expect((await turn).status).toBe('completed');
  expect(server.client.notifications('mcpServer/startupStatus/updated').at(-1)).toMatchObject({
    status: 'failed',
    error: 'it did not start in time: it has 7 seconds (startup_timeout_sec)',
  });
});

test('a call ends after tool_timeout_sec, and the server goes on', async () => {
  const calls = [
    mcpCall('hang', {}, { callId: 'a' }),
    mcpCall('echo', { message: 'on' }, { callId: 'b' }),
  ];
  const server = await mcpThread(calls, {
    config: withServers(exampleServer('ex', 'tool_timeout_sec = 5')),
  });
  const turn = runTurn(server);
  await server.clock.timerOf(5_000);
  server.clock.advance(5_000);
  await turn;
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'ex did not answer in time: it has 5 seconds (tool_timeout_sec)',
  );
  expect(textOf(server, 'b')).toMatch(/echo: on/);
});

test('an interrupt ends a call at once', async () => {
  const server = await mcpThread([mcpCall('hang')]);
  const { turn } = await server.client.request('turn/start', {
    threadId: server.threadId,
    input: [{ type: 'text', text: 'go', text_elements: [] }],
  });
  await until(server, 'the item', () =>
    server.client.notifications('item/started').some(({ item }) => item.type === 'mcpToolCall'),
  );
  await server.client.request('turn/interrupt', { threadId: server.threadId, turnId: turn.id });
  expect((await server.client.turnCompleted(turn.id)).status).toBe('interrupted');
  expect(mcpItems(server)[0]).toMatchObject({
    status: 'failed',
    error: { message: expect.stringMatching(/interrupted/) as string },
  });
});

test('a server that dies fails its calls clearly, and is started again after growing waits', async () => {
  const log = join(tempFolder(), 'log');
  const server = await mcpThread(
    [mcpCall('die', {}, { callId: 'a' }), mcpCall('echo', { message: 'x' }, { callId: 'b' })],
    {
      config: withServers(exampleServer('ex', '', { MCP_LOG: log })),
    },
  );
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'the MCP server ex has ended: it ended with exit code 7',
  );
  expect(mcpItems(server)[1]?.error?.message).toMatch(
    /^the MCP server ex is not available: it ended with exit code 7\. It is being started again\.$/,
  );
  server.clock.advance(1_000);
  await until(
    server,
    'a new start',
    () => server.client.notifications('mcpServer/startupStatus/updated').length >= 5,
  );
  server.model.push(
    response(mcpCall('echo', { message: 'back' }, { callId: 'c' })),
    response(message('done')),
  );
  await runTurn(server);
  expect(textOf(server, 'c')).toMatch(/echo: back/);
  expect(readFileSync(log, 'utf8').match(/^pid /gm)).toHaveLength(2);
});

test('a tool that a server adds is offered with the next request', async () => {
  const server = await mcpThread([mcpCall('grow')]);
  await runTurn(server);
  const hasGrown = async () => {
    const { data } = await server.client.request('mcpServerStatus/list', {
      threadId: server.threadId,
    });
    return Object.hasOwn(data[0]?.tools ?? {}, 'grown');
  };
  while (!(await hasGrown()));
  server.model.push(response(message('done')));
  await runTurn(server);
  expect(offeredBy(server.model.requests.at(-1)).map(({ name }) => name)).toContain('grown');
});

test('the model lists and reads resources', async () => {
  const call = (name: string, args: object, callId: string) => functionCall(name, args, { callId });
  const server = await mcpThread([
    call('list_mcp_resources', {}, 'a'),
    call('list_mcp_resource_templates', { server: 'ex' }, 'b'),
    call('read_mcp_resource', { server: 'ex', uri: 'example://one' }, 'c'),
    call('read_mcp_resource', { server: 'ex', uri: 'example://two' }, 'd'),
    call('read_mcp_resource', { server: 'other', uri: 'example://two' }, 'e'),
  ]);
  await runTurn(server);
  expect(JSON.parse(textOf(server, 'a'))).toEqual({
    resources: [{ server: 'ex', uri: 'example://one', name: 'one', mimeType: 'text/plain' }],
  });
  expect(JSON.parse(textOf(server, 'b'))).toEqual({
    server: 'ex',
    resourceTemplates: [{ server: 'ex', uriTemplate: 'example://{id}', name: 'any' }],
  });
  expect(JSON.parse(textOf(server, 'c'))).toEqual({
    server: 'ex',
    uri: 'example://one',
    contents: [{ uri: 'example://one', mimeType: 'text/plain', text: 'the text of one' }],
  });
  expect(textOf(server, 'd')).toBe('no resource example://two');
  expect(textOf(server, 'e')).toBe("unknown MCP server 'other'. The servers are: ex.");
  expect(mcpItems(server).map(({ server: of, tool, status }) => [of, tool, status])).toEqual([
    ['heddle', 'list_mcp_resources', 'completed'],
    ['ex', 'list_mcp_resource_templates', 'completed'],
    ['ex', 'read_mcp_resource', 'completed'],
    ['ex', 'read_mcp_resource', 'failed'],
    ['other', 'read_mcp_resource', 'failed'],
  ]);
});

test('a server runs in the working directory of the thread, with the variables that it needs', async () => {
  const server = await mcpThread([mcpCall('where')], {
    config: withServers(exampleServer('ex', 'env_vars = ["PASSED"]', { OWN: 'yes' })),
    env: { PASSED: 'on', OPENAI_API_KEY: 'sk-secret-secret-secret' },
  });
  await runTurn(server);
  const said = (toldOf(server) as { text: string }[])[1]?.text ?? '{}';
  const { cwd, env } = JSON.parse(said) as { cwd: string; env: Record<string, string> };
  expect(cwd).toBe(server.cwd);
  expect(env).toMatchObject({ OWN: 'yes', PASSED: 'on', PATH: expect.any(String) as string });
  expect(env).not.toHaveProperty('OPENAI_API_KEY');
});

test('a server that thread/start configures is used', async () => {
  const { command, args } = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../../mcp/example-server.js')],
  };
  const server = await mcpThread([mcpCall('echo', { message: 'own' }, { server: 'mine' })], {
    config: withServers(''),
    thread: { config: { mcp_servers: { mine: { command, args } } } },
  });
  await runTurn(server);
  expect(textOf(server)).toMatch(/echo: own/);
});

test('thread/start is refused if a required server does not start, and waits for it otherwise', async () => {
  const bad = exampleServer('bad', 'required = true', { MCP_MODE: 'dies' });
  await expect(mcpThread([], { config: withServers(bad) })).rejects.toMatchObject({
    code: -32603,
    message: expect.stringMatching(
      /^required MCP servers failed to initialize: bad: it ended with exit code 3/,
    ) as string,
  });
  const server = await mcpThread([], {
    config: withServers(exampleServer('ex', 'required = true')),
  });
  expect(
    server.client
      .notifications('mcpServer/startupStatus/updated')
      .slice(0, 2)
      .map(({ status }) => status),
  ).toEqual(['starting', 'ready']);
});
