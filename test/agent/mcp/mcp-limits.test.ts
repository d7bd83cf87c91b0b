// @module-tag slow
import { expect, test } from 'vitest';
import { McpTools } from '../../../src/agent/mcp/mcp-tools.ts';
import type { ThreadContext } from '../../../src/agent/thread-context.ts';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  offeredBy,
  runTurn,
  textOf,
  toldOf,
  until,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { answer, question } from '../../support/asking.ts';
import { functionCall, message, response } from '../../support/test-model.ts';

const ASKING = {
  method: 'elicitation/create',
  request: { message: 'On?', requestedSchema: { type: 'object', properties: {} } },
};

/** A server with these tools beside its own. */
const withTools = (...tools: object[]) =>
  withServers(exampleServer('ex', '', { MCP_TOOLS: JSON.stringify(tools) }));

test('a result of 400,000 blocks: the model reads 500 and a note, and the item is cut', async () => {
  const server = await mcpThread([mcpCall('blocks', { count: 400_000 })]);
  await runTurn(server);
  const told = toldOf(server) as { text: string }[];
  expect([told.length, told.at(-1)?.text]).toEqual([
    502,
    '[Left out of this result: 399500 × a part beyond the first 500.]',
  ]);
  const content = mcpItems(server)[0]?.result?.content;
  expect([content?.length, content?.at(-1)]).toEqual([
    17,
    { type: 'text', text: '[The result was too long to keep: it is cut.]' },
  ]);
});

test('structured content of many values is cut for the model and for the item; a client that calls the tool itself gets an error', async () => {
  const server = await mcpThread([mcpCall('rows', { count: 100_000 })]);
  await runTurn(server);
  expect(textOf(server)).toMatch(
    /^Wall time: .*\nOutput:\n\{"rows":\[\{"id":0\},[\s\S]* characters truncated …\][\s\S]*\{"id":99999\}\]\}$/,
  );
  expect(mcpItems(server)[0]?.result).toMatchObject({
    structuredContent: null,
    content: [{ text: 'see the rows' }, { text: /too long/ }],
  });
  const call = { threadId: server.threadId, server: 'ex', tool: 'rows' };
  expect(
    await server.client.refusal('mcpServer/tool/call', { ...call, arguments: { count: 100_000 } }),
  ).toMatchObject({
    message: expect.stringMatching(/^the answer of the server has more than 50000 values$/),
  });
  const { structuredContent } = await server.client.request('mcpServer/tool/call', {
    ...call,
    arguments: { count: 1_000 },
  });
  expect(structuredContent).toMatchObject({ rows: { length: 1_000 } });
});

test('a result for a hook is cut', async () => {
  const threads: ThreadContext[] = [];
  const create = (thread: ThreadContext) => {
    threads.push(thread);
    return {};
  };
  const server = await mcpThread([], { partKinds: [{ create }] });
  await runTurn(server);
  const call = { server: 'ex', tool: 'flood', input: { bytes: 10 * 1024 * 1024 } };
  const text = await threads[0]?.parts.get(McpTools).callAside(call, new AbortController().signal);
  expect(text).toMatch(/^x{65536}\n\[The result was too long to keep: it is cut\.\]$/);
});

test('the message of an error is cut', async () => {
  const server = await mcpThread([mcpCall('errPage', { chars: 5_000_000 })]);
  await runTurn(server);
  const shown = mcpItems(server)[0]?.error?.message ?? '';
  expect(shown).toMatch(/^begin x{994}\n\[… \d+ characters truncated …\]\nx{996} end$/);
  expect(toldOf(server)).toContainEqual({ type: 'input_text', text: shown });
});

test('a long list of resources is cut for the model, which is told', async () => {
  const call = (callId: string) =>
    functionCall('read_mcp_resource', { server: 'ex', uri: 'example://long' }, { callId });
  const server = await mcpThread([call('a')]);
  await runTurn(server);
  expect(textOf(server, 'a')).toMatch(
    /^\{"server":"ex","uri":"example:\/\/long","contents":[\s\S]*\n\[… The rest was left out: it is too long\.\]$/,
  );
  expect(textOf(server, 'a').length).toBeLessThan(50_000);
});

test('schemas that providers refuse are mended, or their tools left out with a warning that names them', async () => {
  const schema = (more: object) => ({ type: 'object', ...more });
  const text = { type: 'string' };
  const deep = Array.from({ length: 40 }).reduce<object>(
    (inner) => ({ type: 'array', items: inner }),
    text,
  );
  const server = await mcpThread([], {
    config: withTools(
      {
        name: 'either',
        inputSchema: schema({
          anyOf: [{ properties: { a: text } }, { properties: { b: text }, required: ['b'] }],
        }),
      },
      {
        name: 'named',
        inputSchema: schema({
          $ref: '#/$defs/Args',
          $defs: { Args: { type: 'object', properties: { c: text } } },
        }),
      },
      { name: 'dangling', inputSchema: schema({ properties: { d: { $ref: '#/$defs/None' } } }) },
      { name: 'nothing', inputSchema: schema({ anyOf: [{ properties: { d: 'string' } }] }) },
      {
        name: 'remote',
        inputSchema: schema({ properties: { d: { $ref: 'https://example.com/schema' } } }),
      },
      {
        name: 'large',
        inputSchema: schema({ properties: { e: { ...text, description: 'x'.repeat(110_000) } } }),
      },
      { name: 'deep', inputSchema: schema({ properties: { f: deep } }) },
      { name: 'echo', inputSchema: schema({}) },
    ),
  });
  server.model.push(response(message('again')));
  await runTurn(server);
  await runTurn(server);
  const offered = new Map(
    offeredBy(server.model.request(1)).map(({ name, parameters }) => [name, parameters]),
  );
  expect(offered.get('either')).toEqual({ type: 'object', properties: { a: text, b: text } });
  expect(offered.get('named')).toMatchObject({ type: 'object', properties: { c: text } });
  expect(
    [...offered.keys()].filter((name) =>
      ['dangling', 'nothing', 'remote', 'large', 'deep'].includes(name),
    ),
  ).toEqual([]);
  const names = offeredBy(server.model.request(1)).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(server.client.notifications('warning')).toEqual([
    {
      threadId: server.threadId,
      message:
        'The model is not offered these tools of the MCP server ex: dangling (its schema refers to "#/$defs/None", which it does not have), ' +
        'nothing (its property "d" has no schema), remote (its schema refers to "https://example.com/schema", which it does not have), ' +
        'large (its schema is longer than 100000 characters), deep (its schema is nested more than 32 times), ' +
        'echo (another tool has its name).',
    },
  ]);
});

test('long instructions of a server are cut to what the Responses API takes', async () => {
  const server = await mcpThread([], {
    config: withServers(exampleServer('ex', '', { MCP_INSTRUCTIONS: 'i'.repeat(5_000) })),
  });
  await runTurn(server);
  expect(offeredBy(server.model.request(1))[0]?.namespace?.description).toBe('i'.repeat(1_024));
});

test('lines that are not messages do not end a server, and calls go on', async () => {
  const server = await mcpThread([
    mcpCall('noise', { lines: 5_000 }),
    mcpCall('echo', { message: 'on' }, { callId: 'b' }),
  ]);
  await runTurn(server);
  expect(textOf(server, 'b')).toMatch(/echo: on/);
});

test('a line of JSON that is nested deeply does not end a server, and calls go on', async () => {
  const server = await mcpThread([
    mcpCall('nest', { levels: 200_000 }),
    mcpCall('echo', { message: 'on' }, { callId: 'b' }),
  ]);
  await runTurn(server);
  expect(textOf(server, 'b')).toMatch(/echo: on/);
});

test('a message of too many objects, arrays and members ends its server, with the reason, and no other', async () => {
  const calls = [
    mcpCall('nest', { levels: 30_000_000 }),
    mcpCall('echo', { message: 'on' }, { callId: 'b', server: 'other' }),
  ];
  const server = await mcpThread(calls, {
    config: withServers(exampleServer() + exampleServer('other')),
  });
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'it sent a message of more than 2000000 objects, arrays and members',
  );
  expect(textOf(server, 'b')).toMatch(/echo: on/);
});

test('an answer of too many values fails its call only', async () => {
  const server = await mcpThread([
    mcpCall('objects', { count: 60_000 }),
    mcpCall('echo', { message: 'on' }, { callId: 'b' }),
  ]);
  const { threadId } = server;
  const open = server.client.request('mcpServer/tool/call', {
    threadId,
    server: 'ex',
    tool: 'ask',
    arguments: ASKING,
  });
  const asked = await question(server.client, 'mcpServer/elicitation/request');
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'the answer of the server is too large: it has more than 50000 values, or is nested too deeply',
  );
  expect(textOf(server, 'b')).toMatch(/echo: on/);
  answer(server.client, asked, { action: 'decline' });
  expect(await open).toEqual({ content: [{ type: 'text', text: '{"action":"decline"}' }] });
  expect(
    server.client.notifications('mcpServer/startupStatus/updated').map(({ status }) => status),
  ).toEqual(['starting', 'ready']);
});

test('a call with too many values is refused, and the next one runs', async () => {
  const list = Array.from({ length: 60_000 }, () => 1);
  const server = await mcpThread([
    mcpCall('echo', { message: 'on', list }),
    mcpCall('echo', { message: 'on' }, { callId: 'b' }),
  ]);
  await runTurn(server);
  expect(mcpItems(server)).toHaveLength(1);
  expect(textOf(server, 'b')).toMatch(/echo: on/);
});

test('a server with endless noise is ended, with the reason', async () => {
  const server = await mcpThread([mcpCall('noise')]);
  await runTurn(server);
  const failed = () =>
    server.client
      .notifications('mcpServer/startupStatus/updated')
      .find(({ status }) => status === 'failed');
  await until(server, 'the failure', () => failed() !== undefined);
  expect(failed()?.error).toBe(
    'it sends too many lines that are not messages: a server on stdio must write nothing else to its stdout',
  );
});

test('a server that asks without end and does not read is ended, with the reason', async () => {
  const server = await mcpThread([mcpCall('pings')]);
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    'the MCP server ex has ended: it does not read its input: more than 64 MiB wait for it',
  );
});
