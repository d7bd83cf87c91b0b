import { describe, expect, test } from 'vitest';
import type { DynamicToolSpec, ServerNotifications } from '../../src/protocol/generated/types.ts';
import { PNG } from '../mcp/mcp-thread.ts';
import { answer, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { START_MS } from '../support/expected.ts';
import { type TestClient, text } from '../support/test-client.ts';
import {
  calls,
  conversation,
  functionCall,
  message,
  response,
  type Step,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';

const CALL = 'item/tool/call';
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
  additionalProperties: false,
};
const LOOKUP = { name: 'lookup', description: 'Looks a thing up.', inputSchema: SCHEMA };
const TICKETS = {
  type: 'namespace' as const,
  name: 'tickets',
  description: 'Ticket tools.',
  tools: [
    {
      type: 'function' as const,
      name: 'find',
      description: 'Finds a ticket.',
      inputSchema: SCHEMA,
    },
    {
      type: 'function' as const,
      name: 'close',
      description: 'Closes a ticket.',
      inputSchema: SCHEMA,
    },
  ],
};
const ABOUT_CALLS = [CALL, 'serverRequest/resolved'];
const FOUND = { contentItems: [{ type: 'inputText', text: 'found' }], success: true };

/** A call of a function in a namespace. */
function namespaced(namespace: string, name: string, args: object = { id: '7' }): Step[] {
  return functionCall(name, args).map((event) =>
    event.type === 'itemCompleted' || event.type === 'itemStarted'
      ? ({ ...event, item: { ...event.item, namespace } } as Step)
      : event,
  );
}

interface Running extends TestServer {
  turnId: string;
}

/** A thread with tools of its client, in which a turn runs. */
async function running(
  model: TestModel,
  { tools = [LOOKUP], ...options }: TestServerOptions & { tools?: DynamicToolSpec[] } = {},
): Promise<Running> {
  const server = await startServer({ ...options, model });
  await server.client.request('thread/start', { dynamicTools: tools });
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  return { ...server, turnId: turn.id };
}

function calling(...parts: Step[][]): TestModel {
  return new TestModel(
    response(...(parts.length === 0 ? [functionCall('lookup', { id: '7' })] : parts)),
    response(message('done')),
  );
}

/** The outputs that the model read in this request. */
function outputs({ model }: TestServer, request = 2): unknown[] {
  return conversation(model.request(request)).flatMap((item) =>
    item.type === 'function_call_output' ? [item.output] : [],
  );
}

function items(
  client: TestClient,
  method: 'item/started' | 'item/completed' = 'item/completed',
): unknown[] {
  const all: ServerNotifications[typeof method][] = client.notifications(method);
  return all.map(({ item }) => item).filter(({ type }) => type === 'dynamicToolCall');
}

test('the client runs its tool: the model is offered it, and reads the result', async () => {
  const server = await running(calling());
  const { client, model, turnId } = server;
  const asked = await question(client, CALL);
  expect(asked.params).toEqual({
    threadId: idOf(1),
    turnId,
    callId: 'call_1',
    namespace: null,
    tool: 'lookup',
    arguments: { id: '7' },
  });
  const begun = {
    startedAtMs: START_MS,
    completedAtMs: null,
    type: 'dynamicToolCall',
    id: 'call_1',
    namespace: null,
    tool: 'lookup',
    arguments: { id: '7' },
    status: 'inProgress',
    contentItems: null,
    success: null,
    durationMs: null,
  };
  expect(items(client, 'item/started')).toEqual([begun]);
  const { status } = (await client.request('thread/read', { threadId: idOf(1) })).thread;
  expect(status).toEqual({ type: 'active', activeFlags: [] });
  server.clock.advance(40);
  answer(client, asked, FOUND);
  expect((await client.turnCompleted(turnId)).status).toBe('completed');
  const ended = {
    ...begun,
    status: 'completed',
    contentItems: FOUND.contentItems,
    success: true,
    durationMs: 40,
    completedAtMs: START_MS + 40,
  };
  expect(items(client)).toEqual([ended]);
  expect(model.request(1).tools).toContainEqual({
    type: 'function',
    name: 'lookup',
    description: 'Looks a thing up.',
    parameters: SCHEMA,
  });
  expect(outputs(server)).toEqual(['found']);
  const [resolved, completed] = ['serverRequest/resolved', 'item/completed'].map((method) =>
    client.messages.findLastIndex(
      (one) => one.method === method && !JSON.stringify(one).includes('agentMessage'),
    ),
  );
  expect(resolved).toBeLessThan(Number(completed));
  const { data } = await client.request('thread/items/list', { threadId: idOf(1) });
  expect(data.map(({ item }) => item)).toContainEqual(ended);
});

const PIXEL = `data:image/png;base64,${PNG}`;

test.each<[string, object, unknown, object]>([
  [
    'a failure with its content',
    { contentItems: [{ type: 'inputText', text: 'no luck' }], success: false },
    'no luck',
    { status: 'failed', success: false, contentItems: [{ type: 'inputText', text: 'no luck' }] },
  ],
  [
    'no content',
    { contentItems: [], success: true },
    '',
    { status: 'completed', success: true, contentItems: [] },
  ],
  [
    'text and an image',
    {
      contentItems: [
        { type: 'inputText', text: 'see' },
        { type: 'inputImage', imageUrl: PIXEL },
      ],
      success: true,
    },
    [
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: PIXEL, detail: 'high' },
    ],
    { status: 'completed' },
  ],
  [
    'an image that is no data, and audio',
    {
      contentItems: [
        { type: 'inputImage', imageUrl: 'file:///x.png' },
        { type: 'inputAudio', audioUrl: 'data:audio/wav;base64,AA' },
      ],
      success: true,
    },
    '[Left out of this result: 1 × an image that is not a Base64 data URL; 1 × audio.]',
    {
      contentItems: [
        { type: 'inputImage' },
        { type: 'inputAudio', audioUrl: 'data:audio/wav;base64,AA' },
      ],
    },
  ],
])('the model reads %s', async (_, result, told, item) => {
  const server = await running(calling());
  answer(server.client, await question(server.client, CALL), result);
  await server.client.turnCompleted(server.turnId);
  expect(outputs(server)).toEqual([told]);
  expect(items(server.client)).toMatchObject([item]);
});

test('a result with a remote image is a failed call, and the model reads why', async () => {
  const server = await running(calling());
  const contentItems = [{ type: 'inputImage', imageUrl: 'https://example.com/x.png' }];
  answer(server.client, await question(server.client, CALL), { contentItems, success: true });
  await server.client.turnCompleted(server.turnId);
  const text =
    'The result of lookup has a remote image (an http or https URL), which is not fetched.';
  expect(outputs(server)).toEqual([text]);
  expect(items(server.client)).toMatchObject([
    { status: 'failed', success: false, contentItems: [{ type: 'inputText', text }] },
  ]);
});

test('a long text is cut for the model, and whole for clients', async () => {
  const server = await running(calling(), { overrides: ['tool_output_token_limit=100'] });
  const long = 'x'.repeat(1_000_000);
  answer(server.client, await question(server.client, CALL), {
    contentItems: [{ type: 'inputText', text: long }],
    success: true,
  });
  await server.client.turnCompleted(server.turnId);
  expect(String(outputs(server)[0])).toMatch(
    /^x{200}\n\[… 999600 characters truncated …\]\nx{200}$/,
  );
  expect(items(server.client)).toMatchObject([{ contentItems: [{ text: long }] }]);
});

test.each<[string, object, RegExp]>([
  [
    'an error',
    { error: { code: -32601, message: 'no such method' } },
    /^The client could not run lookup: no such method$/,
  ],
  ['null', { result: null }, /the answer is malformed/],
  [
    'content that is no list',
    { result: { contentItems: 'x', success: true } },
    /the answer is malformed: .*contentItems/,
  ],
  ['no success', { result: { contentItems: [] } }, /the answer is malformed: .*success/],
  [
    'content of an unknown type',
    { result: { contentItems: [{ type: 'weird' }], success: true } },
    /the answer is malformed/,
  ],
])('a client that answers with %s fails the call, and the turn goes on', async (_, reply, told) => {
  const server = await running(calling());
  const { id } = await question(server.client, CALL);
  server.client.send(JSON.stringify({ id, ...reply }));
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
  expect(outputs(server)).toEqual([expect.stringMatching(told)]);
  const contentItems = [{ type: 'inputText', text: expect.stringMatching(told) }];
  expect(items(server.client)).toMatchObject([{ status: 'failed', success: false, contentItems }]);
});

test('calls that come together are all open at once', async () => {
  const [one, two] = ['a', 'b'].map((callId) => functionCall('lookup', { id: callId }, { callId }));
  const server = await running(calling(one ?? [], two ?? []));
  const { client } = server;
  const second = await question(client, CALL, 2);
  answer(client, second, { contentItems: [{ type: 'inputText', text: 'B' }], success: true });
  answer(client, await question(client, CALL, 1), {
    contentItems: [{ type: 'inputText', text: 'A' }],
    success: true,
  });
  await client.turnCompleted(server.turnId);
  expect(items(client)).toMatchObject([{ id: 'b' }, { id: 'a' }]);
  expect(outputs(server).sort()).toEqual(['A', 'B']);
});

test('arguments that are not JSON do not reach the client; others do, whatever the schema says', async () => {
  const bad = functionCall('lookup', '{"id', { callId: 'bad' });
  const odd = functionCall('lookup', '[1]', { callId: 'odd' });
  const server = await running(calling(bad, odd));
  const asked = await question(server.client, CALL);
  expect(asked.params.arguments).toEqual([1]);
  answer(server.client, asked, FOUND);
  await server.client.turnCompleted(server.turnId);
  expect(outputs(server)).toContainEqual('The arguments of lookup are not valid JSON.');
});

test('an interrupt ends the call, and the request is resolved', async () => {
  const server = await running(calling());
  const { client, turnId } = server;
  const { id } = await question(client, CALL);
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  expect((await client.turnCompleted(turnId)).status).toBe('interrupted');
  expect(client.notifications('serverRequest/resolved')).toEqual([
    { threadId: idOf(1), requestId: id },
  ]);
  expect(items(client)).toMatchObject([{ status: 'failed', success: false }]);
  answer(client, { id }, FOUND);
  server.model.push(response(message('ok')));
  await client.turn(idOf(1), 'next');
  expect(outputs(server)).toEqual([expect.stringMatching(/^The turn was interrupted/)]);
});

test('client_tool_timeout_ms limits the time of a client that hangs', async () => {
  const server = await running(calling(), { overrides: ['client_tool_timeout_ms=5000'] });
  await question(server.client, CALL);
  server.clock.advance(5000);
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
  expect(outputs(server)).toEqual([
    'The client did not answer the call of lookup within 5 seconds.',
  ]);
});

describe('a namespace', () => {
  test('of tools: offered together, and named in the request and the item', async () => {
    const server = await running(calling(namespaced('tickets', 'find')), {
      tools: [TICKETS, LOOKUP],
    });
    const asked = await question(server.client, CALL);
    expect(asked.params).toMatchObject({ namespace: 'tickets', tool: 'find' });
    answer(server.client, asked, FOUND);
    await server.client.turnCompleted(server.turnId);
    expect(items(server.client)).toMatchObject([
      { namespace: 'tickets', tool: 'find', status: 'completed' },
    ]);
    const namespace = { name: 'tickets', description: 'Ticket tools.' };
    expect(server.model.request(1).tools.filter((tool) => 'namespace' in tool)).toEqual(
      TICKETS.tools.map(({ name, description }) => ({
        type: 'function',
        namespace,
        name,
        description,
        parameters: SCHEMA,
      })),
    );
    expect(outputs(server)).toEqual(['found']);
  });

  test('a tool is also found by its flat name, and not under another namespace', async () => {
    const flat = functionCall('tickets__find', { id: '1' }, { callId: 'flat' });
    const server = await running(calling(flat, namespaced('other', 'find')), { tools: [TICKETS] });
    answer(server.client, await question(server.client, CALL), FOUND);
    await server.client.turnCompleted(server.turnId);
    expect(outputs(server)).toContainEqual('found');
    const unknown = expect.stringMatching(
      /^There is no tool named find in the namespace other\. The tools are: tickets__find, tickets__close, /,
    );
    expect(outputs(server)).toContainEqual(unknown);
  });

  test('of the older form', async () => {
    const server = await running(calling(namespaced('old', 'lookup')), {
      tools: [{ ...LOOKUP, namespace: 'old' }],
    });
    const asked = await question(server.client, CALL);
    expect(asked.params).toMatchObject({ namespace: 'old', tool: 'lookup' });
    answer(server.client, asked, FOUND);
    await server.client.turnCompleted(server.turnId);
  });
});

test('a tool of the client takes the place of a built-in one', async () => {
  const server = await running(calling(functionCall('update_plan', { id: '1' })), {
    tools: [{ ...LOOKUP, name: 'update_plan' }],
  });
  const asked = await question(server.client, CALL);
  expect(asked.params).toMatchObject({ tool: 'update_plan', arguments: { id: '1' } });
  expect(server.model.request(1).tools.filter(({ name }) => name === 'update_plan')).toMatchObject([
    { description: 'Looks a thing up.' },
  ]);
  answer(server.client, asked, FOUND);
  await server.client.turnCompleted(server.turnId);
});

describe('the tools of a thread', () => {
  test('are kept over a restart, and asked of the client that resumes the thread', async () => {
    const server = await running(calling(), { tools: [LOOKUP, TICKETS] });
    answer(server.client, await question(server.client, CALL), FOUND);
    await server.client.turnCompleted(server.turnId);
    const { client, model } = await server.restart();
    await client.request('thread/resume', { threadId: idOf(1) });
    model.push(
      response(functionCall('lookup', { id: '8' }, { callId: 'again' })),
      response(message('ok')),
    );
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('more') });
    answer(client, await question(client, CALL), FOUND);
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
    expect(model.request(3).tools).toEqual(model.request(1).tools);
    expect((await client.request('thread/list', {})).data.map(({ id }) => id)).toEqual([idOf(1)]);
  });

  test('go to a fork, and are asked of the client that forked', async () => {
    const server = await running(calling());
    answer(server.client, await question(server.client, CALL), FOUND);
    await server.client.turnCompleted(server.turnId);
    const other = await server.connect();
    const fork = (await other.request('thread/fork', { threadId: idOf(1) })).thread.id;
    server.model.push(
      response(functionCall('lookup', { id: '8' }, { callId: 'again' })),
      response(message('ok')),
    );
    const { turn } = await other.request('turn/start', { threadId: fork, input: text('more') });
    answer(other, await question(other, CALL), FOUND);
    expect((await other.turnCompleted(turn.id)).status).toBe('completed');
    expect(server.client.messages.filter(({ method }) => method === CALL)).toHaveLength(1);
  });

  test('many of them: stored once, whole after a restart, and not read by lists', async () => {
    const tools = Array.from({ length: 300 }, (_, number) => ({
      ...LOOKUP,
      name: `tool_${number}`,
      description: 'd'.repeat(500),
    }));
    const server = await startServer();
    await server.client.request('thread/start', { dynamicTools: tools });
    const record = await server.store.getThread(idOf(1));
    expect(JSON.parse(record?.clientTools ?? '')).toHaveLength(300);
    server.model.push(response(message('ok')));
    await server.client.turn(idOf(1), 'hi');
    const query = {
      limit: 1,
      cursor: null,
      direction: 'desc' as const,
      archived: false,
      sortKey: 'createdAt' as const,
      modelProviders: null,
    };
    const all = {
      cwds: null,
      sources: null,
      originators: null,
      parentId: null,
      ancestorId: null,
      excludedIds: null,
      searchTerm: null,
    };
    expect(
      (await server.store.listThreads({ ...query, ...all })).data.map(
        ({ clientTools }) => clientTools,
      ),
    ).toEqual([null]);
    expect(
      server.model.request(1).tools.filter(({ name }) => name.startsWith('tool_')),
    ).toHaveLength(300);
  });

  test('are not those of its reviews and agents', async () => {
    const server = await startServer({ model: new TestModel(response(message('fine'))) });
    await server.client.request('thread/start', { dynamicTools: [LOOKUP] });
    const { turn } = await server.client.request('review/start', {
      threadId: idOf(1),
      target: { type: 'custom', instructions: 'look' },
    });
    await server.client.turnCompleted(turn.id);
    expect(server.model.request(1).tools.map(({ name }) => name)).not.toContain('lookup');
  });
});

describe('with several clients', () => {
  test('only the client that declared the tool is asked, and its answer counts', async () => {
    const model = calling();
    const server = await startServer({ model });
    await server.client.request('thread/start', { dynamicTools: [LOOKUP] });
    const other = await server.connect();
    await other.request('thread/resume', { threadId: idOf(1) });
    const { turn } = await other.request('turn/start', { threadId: idOf(1), input: text('go') });
    const asked = await question(server.client, CALL);
    answer(other, asked, { contentItems: [{ type: 'inputText', text: 'forged' }], success: true });
    await other.request('thread/resume', { threadId: idOf(1) });
    answer(server.client, asked, FOUND);
    await other.turnCompleted(turn.id);
    expect(other.messages.filter(({ method }) => method === CALL)).toEqual([]);
    expect(outputs(server)).toEqual(['found']);
  });

  /** A thread of two clients, in which a call waits; the client that declared the tool has left. */
  async function abandoned(leave: (client: TestClient) => Promise<unknown>) {
    const model = calling();
    const server = await startServer({ model });
    await server.client.request('thread/start', { dynamicTools: [LOOKUP] });
    const other = await server.connect();
    await other.request('thread/resume', { threadId: idOf(1) });
    const { turn } = await other.request('turn/start', { threadId: idOf(1), input: text('go') });
    const asked = await question(server.client, CALL);
    await leave(server.client);
    return { server, other, turnId: turn.id, asked };
  }

  const LEAVE: [string, (client: TestClient) => Promise<unknown>][] = [
    [
      'closes its connection',
      async (client) => {
        client.input.end();
        await client.ended;
      },
    ],
    ['unsubscribes', (client) => client.request('thread/unsubscribe', { threadId: idOf(1) })],
  ];

  test.each(LEAVE)(
    'if that client %s, the call waits half a minute, and fails',
    async (_, leave) => {
      const { server, other, turnId } = await abandoned(leave);
      server.clock.advance(30_000);
      expect((await other.turnCompleted(turnId)).status).toBe('completed');
      const gone = 'lookup is not available now: the client that provides it is not connected.';
      expect(outputs(server)).toEqual([gone]);
      server.model.push(
        response(functionCall('lookup', { id: '9' }, { callId: 'later' })),
        response(message('ok')),
      );
      const next = await other.request('turn/start', { threadId: idOf(1), input: text('again') });
      expect((await other.turnCompleted(next.turn.id)).status).toBe('completed');
      expect(outputs(server, 4)).toEqual([gone, gone]);
    },
  );

  test.each(LEAVE)(
    'if that client %s, the next one that resumes the thread gets the call',
    async (_, leave) => {
      const { server, other, turnId, asked } = await abandoned(leave);
      const next = await server.connect();
      await next.request('thread/resume', { threadId: idOf(1) });
      const again = await question(next, CALL);
      expect(again).toEqual(asked);
      server.clock.advance(30_000);
      answer(next, again, FOUND);
      expect((await other.turnCompleted(turnId)).status).toBe('completed');
      expect(outputs(server)).toEqual(['found']);
    },
  );

  /** A client with another name, or without the experimental API, which resumes the thread. */
  async function observer(
    server: TestServer,
    { name = 'observer', experimentalApi = true } = {},
  ): Promise<TestClient> {
    const client = await server.connect({ handshake: false });
    await client.request('initialize', {
      clientInfo: { name, title: null, version: '1' },
      capabilities: { experimentalApi },
    });
    await client.request('thread/resume', { threadId: idOf(1) });
    return client;
  }

  test('one that only observes the thread does not get the call, however soon it comes', async () => {
    const { server, other, turnId, asked } = await abandoned((client) =>
      client.request('thread/unsubscribe', { threadId: idOf(1) }),
    );
    const observers = [
      await observer(server),
      await observer(server, { name: 'heddle-test', experimentalApi: false }),
    ];
    const next = await server.connect();
    await next.request('thread/resume', { threadId: idOf(1) });
    answer(next, await question(next, CALL), FOUND);
    expect((await other.turnCompleted(turnId)).status).toBe('completed');
    for (const { messages } of observers)
      expect(messages.filter(({ method }) => method === CALL)).toEqual([]);
    expect(asked.method).toBe(CALL);
  });

  test('after a restart, another client runs the tools until the one that declared them is back', async () => {
    const before = await running(calling());
    answer(before.client, await question(before.client, CALL), FOUND);
    await before.client.turnCompleted(before.turnId);
    const server = await before.restart();
    const other = await observer(server);
    const call = async (client: TestClient) => {
      server.model.push(
        response(functionCall('lookup', { id: '8' }, { callId: 'again' })),
        response(message('ok')),
      );
      const from = client.messages.filter(({ method }) => method === CALL).length;
      const { turn } = await other.request('turn/start', {
        threadId: idOf(1),
        input: text('more'),
      });
      answer(client, await question(client, CALL, from + 1), FOUND);
      expect((await other.turnCompleted(turn.id)).status).toBe('completed');
    };
    await call(other);
    // It comes back before half a minute is over.
    await observer(server, { experimentalApi: false });
    await other.request('thread/unsubscribe', { threadId: idOf(1) });
    await other.request('thread/resume', { threadId: idOf(1) });
    server.clock.advance(30_000);
    await call(other);
    await server.client.request('thread/resume', { threadId: idOf(1) });
    await call(server.client);
  });

  /**
   * A restarted server, in which a client that did not declare the tool runs a call. Then the one
   * that declared it is back.
   */
  async function runElsewhere() {
    const before = await running(calling());
    answer(before.client, await question(before.client, CALL), FOUND);
    await before.client.turnCompleted(before.turnId);
    const server = await before.restart();
    const other = await observer(server);
    server.model.push(
      response(functionCall('lookup', { id: '8' }, { callId: 'again' })),
      response(message('ok')),
    );
    const { turn } = await other.request('turn/start', { threadId: idOf(1), input: text('more') });
    const asked = await question(other, CALL);
    await server.client.request('thread/resume', { threadId: idOf(1) });
    return { server, other, asked, turnId: turn.id };
  }

  test('a call that runs stays with its client if the one that declared the tool comes back', async () => {
    const { server, other, asked, turnId } = await runElsewhere();
    answer(other, asked, FOUND);
    expect((await server.client.turnCompleted(turnId)).status).toBe('completed');
    const about = (client: TestClient) =>
      client.messages.flatMap(({ method }) =>
        ABOUT_CALLS.includes(String(method)) ? [method] : [],
      );
    expect([about(other), about(server.client)]).toEqual([ABOUT_CALLS, []]);
    expect(outputs(server, 4)).toEqual(['found', 'found']);
  });

  test.each(LEAVE)(
    'if that client %s, the call goes to the one that declared the tool',
    async (_, leave) => {
      const { server, other, asked, turnId } = await runElsewhere();
      await leave(other);
      const again = await question(server.client, CALL);
      expect(again).toEqual(asked);
      answer(server.client, again, FOUND);
      expect((await server.client.turnCompleted(turnId)).status).toBe('completed');
    },
  );
});

test('a kill in mid-call leaves a failed item, and the model is told', async () => {
  const server = await running(calling());
  await question(server.client, CALL);
  const { client, model } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  const all = thread.turns.flatMap((turn) => turn.items);
  expect(all.filter(({ type }) => type === 'dynamicToolCall')).toMatchObject([
    { status: 'failed' },
  ]);
  model.clear();
  model.push(response(message('ok')));
  await client.turn(idOf(1), 'next');
  expect(conversation(model.request(2))).toContainEqual(calls('lookup', { id: '7' }));
});

describe('thread/start refuses', () => {
  const inNamespace = (changes: object) => [{ ...TICKETS, ...changes }];
  const named = (name: string) => [{ ...LOOKUP, name }];
  const withSchema = (inputSchema: unknown) => [{ ...LOOKUP, inputSchema }];

  test.each<[string, unknown[], RegExp]>([
    ['an empty name', named(' '), /dynamicTools\[0\]\.name must not be empty/],
    ['a name with a dot', named('a.b'), /dynamicTools\[0\]\.name must consist of letters, digits/],
    [
      'a long name',
      named('a'.repeat(129)),
      /dynamicTools\[0\]\.name must have at most 128 characters/,
    ],
    ['a name of MCP tools', named('mcp__x'), /dynamicTools\[0\]\.name must not be "mcp__x"/],
    [
      'the name of the search',
      named('tool_search'),
      /dynamicTools\[0\]\.name must not be "tool_search"/,
    ],
    [
      'two tools of one name',
      [LOOKUP, LOOKUP],
      /dynamicTools\[1\] has the same name as params\.dynamicTools\[0\]: "lookup"/,
    ],
    [
      'two namespaces of one name',
      [TICKETS, TICKETS],
      /dynamicTools\[1\] repeats the namespace "tickets"/,
    ],
    ['two tools of one flat name', [TICKETS, ...named('tickets__find')], /"tickets__find"/],
    [
      'an empty namespace',
      inNamespace({ tools: [] }),
      /dynamicTools\[0\]\.tools must not be empty/,
    ],
    [
      'a reserved namespace',
      inNamespace({ name: 'functions' }),
      /dynamicTools\[0\]\.name must not be "functions"/,
    ],
    [
      'a long namespace',
      inNamespace({ name: 'n'.repeat(65) }),
      /dynamicTools\[0\]\.name must have at most 64 characters/,
    ],
    [
      'a long description of a namespace',
      inNamespace({ description: 'd'.repeat(1025) }),
      /description must have at most 1024 characters/,
    ],
    [
      'two tools of one name in a namespace',
      inNamespace({ tools: [TICKETS.tools[0], TICKETS.tools[0]] }),
      /tools\[1\] has the same name/,
    ],
    [
      'a deferred tool without a namespace',
      [{ ...LOOKUP, deferLoading: true }],
      /deferLoading needs a namespace/,
    ],
    [
      'a hidden tool without a namespace',
      [{ ...LOOKUP, exposeToContext: false }],
      /deferLoading needs a namespace/,
    ],
    [
      'an exposeToContext that is a text',
      [{ ...LOOKUP, exposeToContext: 'no' }],
      /dynamicTools\[0\]/,
    ],
    [
      'a schema that is a string',
      withSchema('x'),
      /dynamicTools\[0\]\.inputSchema must be a JSON Schema of an object/,
    ],
    ['a schema of a list', withSchema({ type: 'array' }), /inputSchema\.type must be "object"/],
    [
      'a schema with a number in it',
      withSchema({ properties: { a: 5 } }),
      /inputSchema cannot .*: its property "a" has no schema/,
    ],
    [
      'a schema that refers to nothing',
      withSchema({ properties: { a: { $ref: '#/$defs/A' } } }),
      /inputSchema cannot be offered to a model: its schema refers to "#\/\$defs\/A", which it does not have/,
    ],
    [
      'a long schema',
      withSchema({ description: 'd'.repeat(100_001) }),
      /inputSchema cannot .*: its schema is longer than 100000 characters/,
    ],
    ['a tool of an unknown type', [{ ...LOOKUP, type: 'custom' }], /dynamicTools\[0\]/],
    ['too many tools', [{ ...LOOKUP, description: 'd'.repeat(600_000) }], /at most 524288/],
  ])('%s', async (_, dynamicTools, reason) => {
    const { client } = await startServer();
    expect(await client.refusal('thread/start', { dynamicTools })).toMatchObject({
      code: -32600,
      message: expect.stringMatching(reason),
      data: { code: 'invalid_params' },
    });
    expect((await client.request('thread/loaded/list', {})).data).toEqual([]);
  });

  test('nothing of these: a name that two namespaces have, a schema without a type, one with alternatives, an empty list', async () => {
    const { client, model } = await startServer();
    const tools = [
      { ...LOOKUP, namespace: 'a' },
      { ...LOOKUP, namespace: 'b' },
      { ...LOOKUP, inputSchema: {} },
      {
        ...LOOKUP,
        name: 'either',
        inputSchema: { oneOf: [{ properties: { a: SCHEMA } }, { properties: { b: SCHEMA } }] },
      },
    ];
    await client.request('thread/start', { dynamicTools: tools });
    await client.request('thread/start', { dynamicTools: [] });
    model.push(response(message('ok')));
    await client.turn(idOf(1), 'hi');
    const either = model.request(1).tools.find(({ name }) => name === 'either');
    expect(either).toMatchObject({
      parameters: { type: 'object', properties: { a: SCHEMA, b: SCHEMA } },
    });
    expect(either).not.toHaveProperty('parameters.oneOf');
    const offered = model.request(1).tools.filter(({ name }) => name === 'lookup');
    expect(offered.map((tool) => ('namespace' in tool ? tool.namespace?.name : null))).toEqual([
      'a',
      'b',
      null,
    ]);
    expect(offered.at(-1)).toMatchObject({ parameters: { type: 'object', properties: {} } });
  });
});
