import { describe, expect, test, vi } from 'vitest';
import type { ThreadContext } from '../../src/agent/thread-context.ts';
import { ToolFinder } from '../../src/agent/tool-search/tool-finder.ts';
import { foundToolsText } from '../../src/model/found-tools.ts';
import type { DynamicToolSpec, ResponseItem } from '../../src/protocol/generated/types.ts';
import { rankTools, type ToolWords } from '../../src/tools/tool-search/rank-tools.ts';
import { chatStream, DONE, delta, finish } from '../model/chat-stream.ts';
import { ProviderServer, streaming } from '../model/provider-server.ts';
import { answer, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import {
  conversation,
  functionCall,
  message,
  response,
  type Step,
  TestModel,
} from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string', description: 'The number.' } },
};

function namespace(name: string, ...tools: string[]): DynamicToolSpec {
  return {
    type: 'namespace',
    name,
    description: `Things about ${name}.`,
    tools: tools.map((tool) => ({
      type: 'function',
      name: tool,
      description: `Does ${tool.replaceAll('_', ' ')}.`,
      inputSchema: SCHEMA,
      deferLoading: true,
    })),
  };
}

const TOOLS = [
  namespace('tickets', 'find_ticket', 'close_ticket'),
  namespace('weather', 'forecast'),
  { name: 'lookup', description: 'Looks up.', inputSchema: SCHEMA },
];

/** The names of offered tools that are not built in. */
function offered({ model }: { model: TestModel }, request: number): string[] {
  const own = ['find_ticket', 'close_ticket', 'forecast', 'lookup', 'tool_search'];
  return model.request(request).tools.flatMap(({ name }) => (own.includes(name) ? [name] : []));
}

function namespaced(of: string, name: string): Step[] {
  return functionCall(name, { id: '7' }, { callId: 'c2' }).map((event) =>
    event.type === 'itemCompleted' || event.type === 'itemStarted'
      ? ({ ...event, item: { ...event.item, namespace: of } } as Step)
      : event,
  );
}

describe('tool_search', () => {
  test('deferLoading: the model is not offered the tool before it has found it', async () => {
    const model = new TestModel(
      response(functionCall('tool_search', { query: 'find a ticket', limit: 1 }, { callId: 'c1' })),
      response(namespaced('tickets', 'find_ticket')),
      response(message('done')),
    );
    const server = await startServer({ model });
    const { client } = server;
    await client.request('thread/start', { dynamicTools: TOOLS });
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
    const asked = await question(client, 'item/tool/call');
    expect(asked.params).toMatchObject({ namespace: 'tickets', tool: 'find_ticket' });
    answer(client, asked, { contentItems: [{ type: 'inputText', text: 'found' }], success: true });
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    expect(offered(server, 1)).toEqual(['lookup', 'tool_search']);
    expect(offered(server, 2)).toEqual(['find_ticket', 'lookup', 'tool_search']);
    const [output] = conversation(model.request(2)).flatMap((item) =>
      item.type === 'function_call_output' ? [item.output] : [],
    );
    expect(String(output)).toMatch(/^You can call these tools from now on:\n/);
    expect(JSON.parse(String(output).split('\n').slice(1).join('\n'))).toEqual([
      { name: 'tickets__find_ticket', description: 'Does find ticket.' },
    ]);
  });

  test.each<[string, { deferLoading?: boolean | null; exposeToContext?: boolean | null }, boolean]>(
    [
      ['exposeToContext: false hides a tool until it is found', { exposeToContext: false }, false],
      ['exposeToContext: true does not', { exposeToContext: true }, true],
      ['exposeToContext: null does not', { exposeToContext: null }, true],
      [
        'deferLoading counts if both are given: false',
        { deferLoading: false, exposeToContext: false },
        true,
      ],
      [
        'deferLoading counts if both are given: true',
        { deferLoading: true, exposeToContext: true },
        false,
      ],
      ['deferLoading: null is not given', { deferLoading: null, exposeToContext: false }, false],
    ],
  )(
    '%s, in both forms of a namespace, after a restart and in a fork',
    async (_, choice, isSeen) => {
      const tool = (name: string) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: SCHEMA,
        ...choice,
      });
      const model = new TestModel(
        response(message('a')),
        response(message('b')),
        response(message('c')),
      );
      const { client, restart } = await startServer({ model });
      const older = { namespace: 'tickets', ...tool('find_ticket') };
      const newer = {
        type: 'namespace' as const,
        name: 'weather',
        description: 'Weather.',
        tools: [{ type: 'function' as const, ...tool('forecast') }],
      };
      await client.request('thread/start', { dynamicTools: [older, newer] });
      await client.turn(idOf(1), 'hi');
      const again = await restart();
      await again.client.request('thread/resume', { threadId: idOf(1) });
      await again.client.turn(idOf(1), 'hi');
      const { thread } = await again.client.request('thread/fork', { threadId: idOf(1) });
      await again.client.turn(thread.id, 'hi');
      const expected = isSeen ? ['find_ticket', 'forecast'] : ['tool_search'];
      expect([1, 2, 3].map((request) => offered({ model }, request))).toEqual([
        expected,
        expected,
        expected,
      ]);
    },
  );

  test.each<[string, object, RegExp]>([
    ['finds nothing without a common word', { query: 'zebra' }, /^No tool was found\./],
    ['finds nothing for an empty query', { query: '' }, /^No tool was found\./],
    ['needs a query', { q: 1 }, /needs `query`/],
  ])('%s', async (_, args, told) => {
    const model = new TestModel(
      response(functionCall('tool_search', args)),
      response(message('done')),
    );
    const server = await startServer({ model });
    await server.client.request('thread/start', { dynamicTools: TOOLS });
    await server.client.turn(idOf(1), 'go');
    const [output] = conversation(model.request(2)).flatMap((item) =>
      item.type === 'function_call_output' ? [item.output] : [],
    );
    expect(output).toMatch(told);
    expect(offered(server, 2)).toEqual(['lookup', 'tool_search']);
  });

  test('a deferred tool works if the model calls it without a search', async () => {
    const model = new TestModel(
      response(namespaced('weather', 'forecast')),
      response(message('done')),
    );
    const { client } = await startServer({ model });
    await client.request('thread/start', { dynamicTools: TOOLS });
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
    answer(client, await question(client, 'item/tool/call'), { contentItems: [], success: true });
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  });

  test('is not offered where no tool is deferred', async () => {
    const model = new TestModel(response(message('done')));
    const server = await startServer({ model });
    await server.client.request('thread/start', { dynamicTools: TOOLS.slice(2) });
    await server.client.turn(idOf(1), 'go');
    expect(offered(server, 1)).toEqual(['lookup']);
  });
});

const config = (
  provider: ProviderServer,
  model: string,
  wireApi: string,
) => `model = "${model}"\nmodel_provider = "p"
[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "${wireApi}"
request_max_retries = 0\nstream_max_retries = 0\n`;
const completed = { type: 'response.completed', response: { id: 'resp_1', usage: null } };
const said = {
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text: 'ok' }],
};
const done = (item: object) => ({ type: 'response.output_item.done', item });

test('a model that knows the search of the Responses API gets it, and what it has found in its output', async () => {
  const search = {
    type: 'tool_search_call',
    id: 'ts_1',
    call_id: 'c1',
    execution: 'client',
    status: 'completed',
    arguments: { query: 'forecast' },
  };
  await using provider = await ProviderServer.start(
    streaming(done(search), completed),
    streaming(done(said), completed),
  );
  const { client } = await startServer({
    config: config(provider, 'gpt-5.5', 'responses'),
    model: null,
  });
  await client.request('thread/start', { dynamicTools: TOOLS });
  expect((await client.turn(idOf(1), 'go')).status).toBe('completed');
  const [first, second] = provider.requests.map(
    ({ body }) => body as { tools: { type: string; name?: string }[]; input: { type: string }[] },
  );
  expect(
    first?.tools.filter(({ type, name }) => type === 'tool_search' || name === 'tickets'),
  ).toEqual([
    {
      type: 'tool_search',
      execution: 'client',
      description: expect.any(String),
      parameters: expect.any(Object),
    },
  ]);
  expect(second?.tools).toEqual(first?.tools);
  const forecast = {
    type: 'function',
    name: 'forecast',
    description: 'Does forecast.',
    parameters: SCHEMA,
    strict: false,
    defer_loading: true,
  };
  const tools = [
    { type: 'namespace', name: 'weather', description: 'Things about weather.', tools: [forecast] },
  ];
  expect(second?.input.slice(-2)).toEqual([
    {
      type: 'tool_search_call',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      arguments: { query: 'forecast' },
    },
    { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed', tools },
  ]);
});

test('an API without namespaces gets flat names', async () => {
  const call = { index: 0, id: 'c1', function: { name: 'tickets__find', arguments: '{"id":"7"}' } };
  const calling = chatStream(delta({ tool_calls: [call] }), finish('tool_calls'), DONE);
  await using provider = await ProviderServer.start(
    calling,
    chatStream(delta({ content: 'ok' }), finish('stop'), DONE),
  );
  const { client } = await startServer({
    config: config(provider, 'gpt-5.5', 'chat'),
    model: null,
  });
  const tools = [
    { type: 'function' as const, name: 'find', description: 'Finds.', inputSchema: SCHEMA },
  ];
  await client.request('thread/start', {
    dynamicTools: [{ type: 'namespace', name: 'tickets', description: 'Tickets.', tools }],
  });
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
  const asked = await question(client, 'item/tool/call');
  expect(asked.params).toMatchObject({ namespace: 'tickets', tool: 'find' });
  answer(client, asked, { contentItems: [{ type: 'inputText', text: 'found' }], success: true });
  expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  const [first, second] = provider.requests.map(
    ({ body }) => body as { tools: { function: { name: string } }[]; messages: unknown[] },
  );
  expect(first?.tools.map((tool) => tool.function.name)).toContain('tickets__find');
  expect(second?.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'c1', content: 'found' });
});

test('the history is read only for a model that does not search itself, and again after one that does', async () => {
  const spec = {
    type: 'function' as const,
    name: 'forecast',
    description: 'Does it.',
    parameters: {},
  };
  const tools = [
    { spec, isDeferred: true as const, prepare: () => Promise.reject(new Error('not called')) },
  ];
  const output: ResponseItem = {
    type: 'function_call_output',
    call_id: 'c1',
    output: foundToolsText([spec]),
  };
  const call: ResponseItem = {
    type: 'function_call',
    call_id: 'c1',
    name: 'tool_search',
    arguments: '{}',
  };
  let isNative = true;
  const prompt = vi.fn(() => Promise.resolve({ items: isNative ? [] : [call, output] }));
  const thread = {
    state: {
      configuration: { tools: { searchesTools: () => isNative } },
      record: { settings: {} },
    },
    history: { prompt },
  };
  const finder = new ToolFinder(thread as unknown as ThreadContext);
  const isOffered = async () => (await finder.tools(tools))[0]?.isDeferred !== true;
  expect(await isOffered()).toBe(false);
  expect(prompt).not.toHaveBeenCalled();
  isNative = false;
  expect([await isOffered(), await isOffered()]).toEqual([true, true]);
  expect(prompt).toHaveBeenCalledTimes(1);
});

test('rankTools: names count more than descriptions, and rare words more than frequent ones', async () => {
  const tool = (name: string, description: string) => ({
    spec: { type: 'function' as const, name, description, parameters: {} },
  });
  const tools = [
    tool('readFile', 'Reads a file.'),
    tool('notes', 'Reads notes about files.'),
    tool('sendMail', 'Sends a file by mail.'),
  ];
  const words: ToolWords = new WeakMap();
  const names = async (query: string, limit = 10) =>
    (await rankTools(tools, query, { limit, words })).map(({ spec }) => spec.name);
  expect((await names('read files'))[0]).toBe('readFile');
  expect(await names('mail')).toEqual(['sendMail']);
  expect(await names('file', 2)).toHaveLength(2);
  expect(await names('Ünïcode 東京')).toEqual([]);
});

test('rankTools: a query of 1 MB over 2,000 tools does not hold up the main thread, and the words of tools are read once', async () => {
  const tools = Array.from({ length: 2_000 }, (_, number) => {
    const description = Array.from(
      { length: 40 },
      (__, word) => `word${(number * 7 + word * 13) % 5_000}`,
    ).join(' ');
    return {
      spec: { type: 'function' as const, name: `tool_${number}`, description, parameters: {} },
    };
  });
  const query = Array.from({ length: 100_000 }, (_, number) => `word${number}`).join(' ');
  const words: ToolWords = new WeakMap();
  let rounds = 0;
  let ended = false;
  const round = () => {
    rounds += 1;
    if (!ended) setImmediate(round);
  };
  setImmediate(round);
  // CPU time, because other processes may take the core. Its mean, because the collection of
  // garbage can take long at any time.
  const before = process.cpuUsage();
  const found = await rankTools(tools, query, { limit: 8, words });
  const { user, system } = process.cpuUsage(before);
  ended = true;
  expect(found).toHaveLength(8);
  expect((user + system) / 1e3 / rounds).toBeLessThan(10);
  const read = vi.spyOn(String.prototype, 'toLowerCase');
  await rankTools(tools, 'word1 word2', { limit: 8, words });
  expect(read).toHaveBeenCalledTimes(1);
  read.mockRestore();
});

describe('what a search has found', () => {
  const searching = () =>
    response(functionCall('tool_search', { query: 'find a ticket', limit: 1 }, { callId: 'c1' }));

  test('is offered after a restart, and in a fork', async () => {
    const server = await startServer({
      model: new TestModel(searching(), response(message('done'))),
    });
    await server.client.request('thread/start', { dynamicTools: TOOLS });
    await server.client.turn(idOf(1), 'go');
    const again = await server.restart();
    await again.client.request('thread/resume', { threadId: idOf(1) });
    again.model.push(response(message('resumed')), response(message('forked')));
    await again.client.turn(idOf(1), 'and now?');
    expect(offered(again, 3)).toEqual(['find_ticket', 'lookup', 'tool_search']);
    const fork = (await again.client.request('thread/fork', { threadId: idOf(1) })).thread.id;
    await again.client.turn(fork, 'and here?');
    expect(offered(again, 4)).toEqual(['find_ticket', 'lookup', 'tool_search']);
  });

  const SEARCHED: ResponseItem[] = [
    {
      type: 'tool_search_call',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      arguments: { query: 'forecast' },
    },
    {
      type: 'tool_search_output',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      tools: [
        {
          type: 'namespace',
          name: 'weather',
          description: 'Weather.',
          tools: [
            {
              type: 'function',
              name: 'forecast',
              description: 'Does forecast.',
              parameters: SCHEMA,
            },
          ],
        },
      ],
    },
    { type: 'tool_search_call', execution: 'server', arguments: {} },
    { type: 'tool_search_output', execution: 'server', status: 'completed', tools: [] },
  ];
  const OUTPUT =
    'You can call these tools from now on:\n[\n {\n  "name": "weather__forecast",\n  "description": "Does forecast."\n }\n]';

  test('goes to a model that does not search itself as a call of a function, and its tools are offered', async () => {
    await using provider = await ProviderServer.start(streaming(done(said), completed));
    const { client } = await startServer({
      config: config(provider, 'other-model', 'responses'),
      model: null,
    });
    await client.request('thread/start', { dynamicTools: TOOLS });
    await client.request('thread/inject_items', { threadId: idOf(1), items: SEARCHED });
    expect((await client.turn(idOf(1), 'go')).status).toBe('completed');
    const body = provider.requests[0]?.body as {
      tools: { type: string; name: string }[];
      input: { type: string; call_id?: string }[];
    };
    expect(body.input.filter(({ type }) => /search|function/.test(type))).toEqual([
      {
        type: 'function_call',
        call_id: 'c1',
        name: 'tool_search',
        arguments: '{"query":"forecast"}',
      },
      { type: 'function_call_output', call_id: 'c1', output: OUTPUT },
    ]);
    expect(body.tools.find(({ name }) => name === 'weather')).toMatchObject({
      tools: [{ name: 'forecast' }],
    });
  });

  test('goes to Chat Completions as a call, too', async () => {
    await using provider = await ProviderServer.start(
      chatStream(delta({ content: 'ok' }), finish('stop'), DONE),
    );
    const { client } = await startServer({
      config: config(provider, 'gpt-5.5', 'chat'),
      model: null,
    });
    await client.request('thread/start', { dynamicTools: TOOLS });
    await client.request('thread/inject_items', { threadId: idOf(1), items: SEARCHED });
    expect((await client.turn(idOf(1), 'go')).status).toBe('completed');
    const body = provider.requests[0]?.body as {
      tools: { function: { name: string } }[];
      messages: { role: string; content: string }[];
    };
    expect(body.messages.find(({ role }) => role === 'tool')).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: OUTPUT,
    });
    expect(body.tools.map((tool) => tool.function.name)).toContain('weather__forecast');
  });
});
