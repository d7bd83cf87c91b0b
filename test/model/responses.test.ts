import { describe, expect, test } from 'vitest';
import type { ModelEvent, ModelRequest } from '../../src/model/model.ts';
import { RecordingLog } from '../support/recording-log.ts';
import {
  answered,
  answeredEvents,
  collect,
  completed,
  created,
  message,
  modelAt,
  never,
  ProviderServer,
  refusing,
  request,
  sse,
  streaming,
} from './provider-server.ts';

async function eventsOf(parts: (object | string)[]): Promise<ModelEvent[]> {
  await using server = await ProviderServer.start(streaming(...parts));
  return await collect(modelAt(server.port).model.stream(request, never));
}

test('a whole answer with reasoning, text, a call and usage becomes model events', async () => {
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'S' }],
    content: [{ type: 'reasoning_text', text: 'R' }],
  };
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'exec',
    arguments: '{"a":1}',
  };
  const events = await eventsOf([
    created,
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', summary: [] },
    },
    {
      type: 'response.reasoning_summary_part.added',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
    },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      delta: 'S',
    },
    {
      type: 'response.reasoning_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      content_index: 1,
      delta: 'R',
    },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    ...message('Hello'),
    { type: 'response.output_item.done', output_index: 2, item: call },
    {
      type: 'response.completed',
      response: {
        usage: {
          input_tokens: 10,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 5,
          output_tokens_details: { reasoning_tokens: 3 },
          total_tokens: 15,
        },
      },
    },
  ]);
  expect(events).toEqual([
    { type: 'started' },
    { type: 'itemStarted', item: { type: 'reasoning', id: 'rs_1', summary: [] } },
    { type: 'reasoningSummaryPart', itemId: 'rs_1', index: 0 },
    { type: 'reasoningSummaryDelta', itemId: 'rs_1', index: 0, delta: 'S' },
    { type: 'reasoningDelta', itemId: 'rs_1', index: 1, delta: 'R' },
    { type: 'itemCompleted', item: reasoning },
    { type: 'itemStarted', item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] } },
    { type: 'textDelta', itemId: 'msg_1', delta: 'Hello' },
    {
      type: 'itemCompleted',
      item: {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello' }],
      },
    },
    { type: 'itemCompleted', item: call },
    {
      type: 'completed',
      usage: {
        inputTokens: 10,
        cachedInputTokens: 4,
        cacheWriteInputTokens: 0,
        outputTokens: 5,
        reasoningOutputTokens: 3,
        totalTokens: 15,
      },
    },
  ]);
});

test('an event that is no JSON is skipped and told to the log: the answer goes on, as it does behind [DONE]', async () => {
  const log = new RecordingLog();
  await using server = await ProviderServer.start(
    streaming(
      created,
      'data: {broken\n\n',
      'data: []\n\n',
      'data: [DONE]\n\n',
      ...message('ok'),
      completed,
    ),
  );
  expect(await collect(modelAt(server.port, {}, { log }).model.stream(request, never))).toEqual(
    answeredEvents,
  );
  const fields = { endpoint: expect.stringMatching(/^P /), skipped: 2 };
  expect(log.lines).toEqual([
    { level: 'warn', text: 'skipped model events that are not JSON objects', fields },
  ]);
});

test('the request goes to base_url with its headers, its query and nothing that is not set', async () => {
  await using server = await ProviderServer.start(answered);
  const { model } = modelAt(
    server.port,
    {
      baseUrl: `http://127.0.0.1:${server.port}/v1/?api=1`,
      envKey: 'KEY',
      httpHeaders: { 'X-Team': 'blue' },
      queryParams: { v: 'a b' },
    },
    { env: { KEY: 'secret-key\n' } },
  );
  await collect(model.stream(request, never));
  const [sent] = server.requests;
  expect(sent?.url).toBe('/v1/responses?api=1&v=a+b');
  expect(sent?.headers).toMatchObject({
    authorization: 'Bearer secret-key',
    'x-team': 'blue',
    'user-agent': 'test/1',
    'content-type': 'application/json',
    accept: 'text/event-stream',
  });
  expect(sent?.body).toEqual({
    model: 'm',
    instructions: 'be brief',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    store: false,
    stream: true,
    reasoning: { summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'thread-1',
  });
});

test('credentials in base_url are sent as such', async () => {
  await using server = await ProviderServer.start(answered);
  await collect(
    modelAt(server.port, { baseUrl: `http://user:p%40ss@127.0.0.1:${server.port}` }).model.stream(
      request,
      never,
    ),
  );
  expect(server.requests[0]).toMatchObject({
    url: '/responses',
    headers: { authorization: `Basic ${btoa('user:p@ss')}` },
  });
});

test('the tool with which the provider searches the web is sent behind the others', async () => {
  await using server = await ProviderServer.start(answered);
  const { model } = modelAt(server.port);
  const none = { contextSize: null, allowedDomains: [], location: null };
  const all = {
    contextSize: 'low',
    allowedDomains: ['a.example'],
    location: { country: 'DE' },
  } as const;
  for (const webSearch of [
    { mode: 'cached', ...none },
    { mode: 'live', ...none },
    { mode: 'indexed', ...all },
  ] as const)
    await collect(model.stream({ ...request, webSearch }, never));
  expect(server.requests.map(({ body }) => (body as { tools: unknown }).tools)).toEqual([
    [{ type: 'web_search', external_web_access: false }],
    [{ type: 'web_search', external_web_access: true }],
    [
      {
        type: 'web_search',
        external_web_access: true,
        indexed_web_access: true,
        filters: { allowed_domains: ['a.example'] },
        user_location: { type: 'approximate', country: 'DE' },
        search_context_size: 'low',
      },
    ],
  ]);
});

test('everything that a request can set is sent', async () => {
  await using server = await ProviderServer.start(answered);
  const full: ModelRequest = {
    ...request,
    input: [
      {
        type: 'message',
        id: 'item_0',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a' }],
        phase: null,
      },
      { type: 'ghost_snapshot', ghost_commit: {} as never },
      { type: 'function_call', id: 'x', call_id: 'c', name: 'n', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: { body: 'done', success: true } },
      { type: 'other' },
    ],
    tools: [{ type: 'function', name: 'n', description: 'd', parameters: { type: 'object' } }],
    effort: 'high',
    summary: 'none',
    outputSchema: { type: 'object' },
    serviceTier: 'fast',
    verbosity: 'low',
  };
  await collect(modelAt(server.port).model.stream(full, never));
  expect(server.requests[0]?.body).toEqual({
    model: 'm',
    instructions: 'be brief',
    input: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'done' },
    ],
    tools: [
      {
        type: 'function',
        name: 'n',
        description: 'd',
        parameters: { type: 'object' },
        strict: false,
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'high' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    service_tier: 'priority',
    prompt_cache_key: 'thread-1',
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', strict: true, name: 'output', schema: { type: 'object' } },
    },
  });
});

test('raw reasoning of earlier turns, as a chat API leaves it, is not sent; that of the running turn is', async () => {
  await using server = await ProviderServer.start(answered);
  const said = (role: string, text: string): ModelRequest['input'][number] => ({
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  });
  const raw = (text: string) => ({
    type: 'reasoning' as const,
    summary: [],
    content: [{ type: 'reasoning_text' as const, text }],
  });
  const encrypted = { ...raw('b'), encrypted_content: 'sealed' };
  const summed = { ...raw('c'), summary: [{ type: 'summary_text' as const, text: 'c' }] };
  const call = { type: 'function_call' as const, call_id: 'c', name: 'n', arguments: '{}' };
  const output = { type: 'function_call_output' as const, call_id: 'c', output: 'done' };
  const turn = [said('user', 'go on'), raw('d'), call, output];
  const input = [said('user', 'hi'), raw('a'), encrypted, summed, said('assistant', 'ok'), ...turn];
  await collect(modelAt(server.port).model.stream({ ...request, input }, never));
  expect(server.requests[0]?.body).toMatchObject({
    input: [said('user', 'hi'), encrypted, summed, said('assistant', 'ok'), ...turn],
  });
});

test('a stream cut anywhere, inside characters and lines, with any line ends, gives the same events', async () => {
  const text = 'Grüße 👋🏽 und “mehr”';
  const expected = (await eventsOf([...message(text), completed])).slice(1);
  const lf = `\uFEFF: a comment\n\n${[...message(text), completed].map(sse).join('')}`;
  for (const wire of [lf, lf.replaceAll('\n', '\r\n')]) {
    const bytes = Buffer.from(wire);
    await using server = await ProviderServer.start((res) => {
      res.socket?.setNoDelay(true);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const writeFrom = (at: number): void => {
        if (at >= bytes.length) res.end();
        else res.write(bytes.subarray(at, at + 1), () => writeFrom(at + 1));
      };
      writeFrom(0);
    });
    const events = await collect(modelAt(server.port).model.stream(request, never));
    expect(events.slice(1)).toEqual(expected);
  }
});

test('an item without an id gets one, the same for its deltas, found by its place, and its end', async () => {
  const item = (text: string) => ({
    type: 'message',
    role: 'assistant',
    content: text === '' ? [] : [{ type: 'output_text', text }],
  });
  const events = await eventsOf([
    { type: 'response.output_item.added', output_index: 0, item: item('') },
    { type: 'response.output_item.added', output_index: 1, item: item('') },
    { type: 'response.output_text.delta', output_index: 1, delta: 'second' },
    { type: 'response.output_text.delta', output_index: 0, delta: 'first' },
    { type: 'response.output_item.done', output_index: 0, item: item('first') },
    { type: 'response.output_item.done', output_index: 1, item: item('second') },
    completed,
  ]);
  expect(events).toEqual([
    { type: 'started' },
    { type: 'itemStarted', item: { ...item(''), id: 'item_1' } },
    { type: 'textDelta', itemId: 'item_1', delta: 'second' },
    { type: 'itemStarted', item: { ...item(''), id: 'item_0' } },
    { type: 'textDelta', itemId: 'item_0', delta: 'first' },
    { type: 'itemCompleted', item: { ...item('first'), id: 'item_0' } },
    { type: 'itemCompleted', item: { ...item('second'), id: 'item_1' } },
    { type: 'completed', usage: null, responseId: 'resp_1' },
  ]);
});

test('unknown events are skipped, unknown items passed on, what is no item skipped', async () => {
  const unknown = { type: 'dream', id: 'd', colour: 'blue' };
  const events = await eventsOf([
    { type: 'response.in_progress' },
    { type: 'response.content_part.added', part: 7 },
    { no: 'type' },
    { type: 'response.output_item.done', output_index: 0, item: unknown },
    { type: 'response.output_item.done', output_index: 0, item: 'text' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 5 } },
    { type: 'response.output_text.delta', item_id: 'nobody', delta: 'lost' },
    completed,
    { type: 'response.failed' },
  ]);
  expect(events).toEqual([
    { type: 'started' },
    { type: 'itemCompleted', item: unknown },
    { type: 'completed', usage: null, responseId: 'resp_1' },
  ]);
});

test('a refusal reads as the text of the message', async () => {
  const events = await eventsOf([
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'm', role: 'assistant' },
    },
    { type: 'response.refusal.delta', item_id: 'm', delta: 'No.' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No.' }],
      },
    },
    completed,
  ]);
  expect(events.slice(2, 4)).toEqual([
    { type: 'textDelta', itemId: 'm', delta: 'No.' },
    {
      type: 'itemCompleted',
      item: {
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'No.' }],
      },
    },
  ]);
});

test.each([
  ['absent', undefined, null],
  ['a text', 'many', null],
  ['with a wrong count', { input_tokens: 'x', output_tokens: 1 }, null],
  ['negative', { input_tokens: -1, output_tokens: 1 }, null],
  [
    'short',
    { input_tokens: 2, output_tokens: 1 },
    {
      inputTokens: 2,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 1,
      reasoningOutputTokens: 0,
      totalTokens: 3,
    },
  ],
])('usage that is %s does not lose the answer', async (_, usage, expected) => {
  const events = await eventsOf([
    ...message('ok'),
    { type: 'response.completed', response: { usage } },
  ]);
  expect(events.at(-1)).toEqual({ type: 'completed', usage: expected });
});

test('requests one after another use the same connections again, and leave no timers', async () => {
  await using server = await ProviderServer.start(answered);
  const { model, clock } = modelAt(server.port);
  for (let n = 0; n < 20; n++)
    expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
  // The end of an answer may still be under way when the next request leaves, on a second
  // connection.
  expect(server.connectionsUsed).toBeLessThanOrEqual(2);
  await clock.idle();
});

test('a connection whose response was used slowly is not used again: its server may have closed it meanwhile', async () => {
  await using server = await ProviderServer.start(answered);
  const { model, clock } = modelAt(server.port);
  for (let n = 0; n < 5; n++)
    for await (const _ of model.stream(request, never)) clock.advance(2_000);
  expect(server.connectionsUsed).toBe(5);
  await clock.idle();
});

describe('what a request says about reasoning', () => {
  const encrypted = ['reasoning.encrypted_content'];
  const sent = ({ requests }: ProviderServer) =>
    requests.map(({ body }) => {
      const { reasoning, include } = body as { reasoning?: object; include: string[] };
      return { reasoning, include };
    });
  const refusal = (text: string) => refusing(400, { error: { message: text } });

  test.each([
    ['encrypted content', refusal('Encrypted content is not supported with this model.')],
    [
      'a summary',
      refusal("Unsupported parameter: 'reasoning.summary' is not supported with this model."),
    ],
    [
      'the field, in an error of its own shape',
      refusing(422, { detail: [{ loc: ['body', 'include'], msg: 'extra' }] }),
    ],
  ])(
    'a model that refuses %s is asked without, in every request after the first',
    async (_, refuses) => {
      await using server = await ProviderServer.start(refuses, answered);
      const { model } = modelAt(server.port);
      for (let n = 0; n < 2; n++)
        expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
      const without = { reasoning: undefined, include: [] };
      expect(sent(server)).toEqual([
        { reasoning: { summary: 'auto' }, include: encrypted },
        without,
        without,
      ]);
    },
  );

  test('an effort that a user asks for stays where only a summary is refused, and goes where the model does not reason', async () => {
    await using server = await ProviderServer.start(
      refusal('Your organization must be verified to generate reasoning summaries.'),
      answered,
      refusal('This model does not support reasoning.'),
      answered,
    );
    const { model } = modelAt(server.port);
    for (let n = 0; n < 2; n++)
      expect(await collect(model.stream({ ...request, effort: 'high' }, never))).toEqual(
        answeredEvents,
      );
    expect(sent(server)).toEqual([
      { reasoning: { effort: 'high', summary: 'auto' }, include: encrypted },
      { reasoning: { effort: 'high' }, include: encrypted },
      { reasoning: { effort: 'high' }, include: encrypted },
      { reasoning: undefined, include: [] },
    ]);
  });

  test('a refusal of the effort itself is told, and the effort is sent again with the next request', async () => {
    await using server = await ProviderServer.start(
      refusal("Invalid value: 'turbo' of reasoning.effort."),
    );
    const { model } = modelAt(server.port);
    for (let n = 0; n < 2; n++) {
      expect(
        (await collect(model.stream({ ...request, effort: 'turbo' }, never))).at(-1),
      ).toMatchObject({ type: 'failed' });
    }
    expect(sent(server).map(({ reasoning }) => reasoning)).toEqual([
      { effort: 'turbo', summary: 'auto' },
      { effort: 'turbo' },
      { effort: 'turbo', summary: 'auto' },
      { effort: 'turbo' },
    ]);
  });
});

test('what calls are made with streams, by the call or its place; what is wrong there is left to the end of the call', async () => {
  const custom = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'c1',
    name: 'apply_patch',
    input: '',
  };
  const plain = { type: 'function_call', id: 'fc_1', call_id: 'c2', name: 'exec', arguments: '' };
  const events = await eventsOf([
    created,
    { type: 'response.output_item.added', output_index: 0, item: custom },
    { type: 'response.output_item.added', output_index: 1, item: plain },
    {
      type: 'response.custom_tool_call_input.delta',
      item_id: 'ctc_1',
      output_index: 0,
      delta: '*** Be',
    },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a"' },
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'gin' },
    {
      type: 'response.custom_tool_call_input.delta',
      item_id: 'nobody',
      output_index: 7,
      delta: 'lost',
    },
    { type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', delta: 5 },
    { type: 'response.output_item.done', output_index: 0, item: { ...custom, input: '*** Begin' } },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { ...plain, arguments: '{"a":1}' },
    },
    completed,
  ]);
  expect(events.filter(({ type }) => type === 'callDelta')).toEqual([
    { type: 'callDelta', callId: 'c1', name: 'apply_patch', custom: true, delta: '*** Be' },
    { type: 'callDelta', callId: 'c2', name: 'exec', custom: false, delta: '{"a"' },
    { type: 'callDelta', callId: 'c1', name: 'apply_patch', custom: true, delta: 'gin' },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'completed' });
});

describe('an answer that says nothing', () => {
  const reasoning = {
    type: 'response.output_item.done',
    item: { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'S' }] },
  };
  const empty = 'gave an empty answer, without text or a call';
  const afterReasoning = 'ended its answer after reasoning, without text or a call';

  test.each<[string, object[], string]>([
    ['and has no items', [], empty],
    ['in an empty message', message(''), empty],
    ['but space', message(' \n'), empty],
    ['but reasons', [reasoning], afterReasoning],
    ['but reasons in tags', message('<think>why</think>'), afterReasoning],
    ['but reasons in tags that are not closed', message('<think>why'), afterReasoning],
  ])('%s completes and says so', async (_, parts, what) => {
    await using server = await ProviderServer.start(streaming(created, ...parts, completed));
    const events = await collect(modelAt(server.port).model.stream(request, never));
    const label = `P (http://127.0.0.1:${server.port}/v1/responses)`;
    expect(events.slice(-2)).toEqual([
      { type: 'saidNothing', message: `${label} ${what}. Ask again, or choose another model.` },
      { type: 'completed', usage: null, responseId: 'resp_1' },
    ]);
  });

  test.each<[string, object[]]>([
    ['text', message('ok')],
    ['text whose message does not end', message('ok').slice(0, 2)],
    [
      'a call',
      [
        {
          type: 'response.output_item.done',
          item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        },
      ],
    ],
    [
      'a search',
      [
        {
          type: 'response.output_item.done',
          item: { type: 'web_search_call', id: 'w', status: 'completed' },
        },
      ],
    ],
    [
      'an item that is not known',
      [{ type: 'response.output_item.done', item: { type: 'future' } }],
    ],
  ])('is not one with %s', async (_, parts) => {
    const types = (await eventsOf([created, ...parts, completed])).map(({ type }) => type);
    expect(types.filter((type) => type === 'saidNothing')).toEqual([]);
  });

  test('is not told if the model has spoken before in the turn', async () => {
    await using server = await ProviderServer.start(streaming(created, completed));
    const spoken = {
      type: 'message' as const,
      role: 'assistant',
      content: [{ type: 'output_text' as const, text: 'Done.' }],
    };
    const output = { type: 'function_call_output' as const, call_id: 'a', output: 'done' };
    const events = await collect(
      modelAt(server.port).model.stream(
        { ...request, input: [...request.input, spoken, output] },
        never,
      ),
    );
    expect(events.map(({ type }) => type)).toEqual(['started', 'completed']);
  });
});
