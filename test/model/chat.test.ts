import { describe, expect, test } from 'vitest';
import type { ModelEvent, ToolSpec } from '../../src/model/model.ts';
import { chatStream, counts, DONE, data, delta, finish } from './chat-stream.ts';
import {
  collect,
  IDLE_MS,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
} from './provider-server.ts';

const PART = 'Only a part of the answer came.';
const patch: ToolSpec = { type: 'custom', name: 'patch', description: '', format: {} };

/** The events of a model behind this reply, between `started` and the end. */
async function eventsFor(reply: Reply, changes = {}): Promise<ModelEvent[]> {
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi: 'chat', ...changes });
  const events = await collect(model.stream({ ...request, tools: [patch] }, never));
  return JSON.parse(
    JSON.stringify(events).replaceAll(`http://127.0.0.1:${server.port}/v1/chat/completions`, 'URL'),
  );
}

async function completedItems(...chunks: (object | string)[]) {
  const events = await eventsFor(chatStream(...chunks));
  expect(events.at(-1)).toEqual({ type: 'completed', usage: null });
  return events.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []));
}

const assistantMessage = (text: string, id = 'msg_0') => ({
  type: 'message',
  id,
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const calls = (call_id: string, name: string, args: string) => ({
  type: 'function_call',
  call_id,
  name,
  arguments: args,
});
const usage = {
  inputTokens: 20,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 7,
  reasoningOutputTokens: 0,
  totalTokens: 27,
};
const failed = (message: string, codexErrorInfo: unknown = 'other') => ({
  type: 'failed',
  error: { message, codexErrorInfo, additionalDetails: null },
});

test('a whole answer with reasoning, text, calls in fragments and usage becomes model events', async () => {
  const fragment = (index: number, rest: object) => delta({ tool_calls: [{ index, ...rest }] });
  const events = await eventsFor(
    chatStream(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'be', content: null }),
      delta({ reasoning_content: 'cause' }),
      ': keep-alive\n\n',
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      fragment(0, { id: 'c1', type: 'function', function: { name: 'plan', arguments: '' } }),
      fragment(1, { id: 'c2', type: 'function', function: { name: 'patch', arguments: '{"in' } }),
      fragment(0, { function: { arguments: '{"a":' } }),
      fragment(1, { function: { arguments: 'put":"x\\ny"}' } }),
      fragment(0, { function: { arguments: '1}' } }),
      finish('tool_calls'),
      counts({
        prompt_tokens: 20,
        completion_tokens: 7,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      }),
      DONE,
    ),
  );
  const reasoning = { type: 'reasoning', id: 'rs_0', summary: [] };
  expect(events).toEqual([
    { type: 'started' },
    { type: 'itemStarted', item: reasoning },
    { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: 'be' },
    { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: 'cause' },
    {
      type: 'itemCompleted',
      item: { ...reasoning, content: [{ type: 'reasoning_text', text: 'because' }] },
    },
    { type: 'itemStarted', item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] } },
    { type: 'textDelta', itemId: 'msg_1', delta: 'Hel' },
    { type: 'textDelta', itemId: 'msg_1', delta: 'lo' },
    { type: 'callDelta', callId: 'c2', name: 'patch', custom: false, delta: '{"in' },
    { type: 'callDelta', callId: 'c1', name: 'plan', custom: false, delta: '{"a":' },
    { type: 'callDelta', callId: 'c2', name: 'patch', custom: false, delta: 'put":"x\\ny"}' },
    { type: 'callDelta', callId: 'c1', name: 'plan', custom: false, delta: '1}' },
    { type: 'itemCompleted', item: assistantMessage('Hello', 'msg_1') },
    { type: 'itemCompleted', item: calls('c1', 'plan', '{"a":1}') },
    {
      type: 'itemCompleted',
      item: { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x\ny' },
    },
    { type: 'completed', usage: { ...usage, cachedInputTokens: 4, reasoningOutputTokens: 2 } },
  ]);
});

describe('calls, as servers give them', () => {
  const one = (...tool_calls: object[]) => delta({ tool_calls });
  const fn = (name: string, args: unknown) => ({ function: { name, arguments: args } });
  const shapes: [string, object[], object[]][] = [
    [
      'whole, all with index 0',
      [
        one({ index: 0, id: 'a', ...fn('f', '{"x":1}') }),
        one({ index: 0, id: 'b', ...fn('f', '{"x":2}') }),
      ],
      [calls('a', 'f', '{"x":1}'), calls('b', 'f', '{"x":2}')],
    ],
    [
      'whole, without an index, in one delta',
      [one({ id: 'a', ...fn('f', '{}') }, { id: 'b', ...fn('g', '{}') })],
      [calls('a', 'f', '{}'), calls('b', 'g', '{}')],
    ],
    [
      'whole, without index and id',
      [one(fn('f', '{"x":1}')), one(fn('f', '{"x":2}')), one(fn('g', ''))],
      [
        calls('call_1_0', 'f', '{"x":1}'),
        calls('call_1_1', 'f', '{"x":2}'),
        calls('call_1_2', 'g', ''),
      ],
    ],
    [
      'with an object for arguments',
      [one({ index: 0, id: 'a', ...fn('f', { x: 1 }) })],
      [calls('a', 'f', '{"x":1}')],
    ],
    [
      'with id and name in every fragment',
      [
        one({ index: 0, id: 'a', ...fn('f', '{"x"') }),
        one({ index: 0, id: 'a', ...fn('f', ':1}') }),
      ],
      [calls('a', 'f', '{"x":1}')],
    ],
    [
      'with the name in every fragment, and no id',
      [
        one({ index: 0, ...fn('f', '{"x"') }),
        one({ index: 0, ...fn('f', ':1}') }),
        one({ index: 0, ...fn('f', '') }),
      ],
      [calls('call_1_0', 'f', '{"x":1}')],
    ],
    [
      'with another id in every fragment',
      [
        one({ index: 0, id: 'a', ...fn('f', '{"x"') }),
        one({ index: 0, id: 'b', function: { arguments: ':1}' } }),
      ],
      [calls('a', 'f', '{"x":1}')],
    ],
    [
      'with the id and the name late',
      [
        one({ index: 0, function: { arguments: '{' } }),
        one({ index: 0, id: 'a', ...fn('f', '}') }),
      ],
      [calls('a', 'f', '{}')],
    ],
    [
      'in fragments without an index, named by id',
      [
        one({ id: 'a', ...fn('f', '{"x"') }),
        one({ id: 'b', ...fn('g', '{') }),
        one({ id: 'a', function: { arguments: ':1}' } }),
        one({ function: { arguments: '}' } }),
      ],
      [calls('a', 'f', '{"x":1}'), calls('b', 'g', '{}')],
    ],
    [
      'with one id for two',
      [one({ index: 0, id: 'a', ...fn('f', '{}') }, { index: 1, id: 'a', ...fn('g', '{}') })],
      [calls('a', 'f', '{}'), calls('call_1_1', 'g', '{}')],
    ],
    [
      'with indexes that leave gaps',
      [one({ index: 3, id: 'a', ...fn('f', '{}') })],
      [calls('a', 'f', '{}')],
    ],
    [
      'by the older function_call',
      [
        delta({ function_call: { name: 'f', arguments: '{"x"' } }),
        delta({ function_call: { arguments: ':1}' } }),
      ],
      [calls('call_1_0', 'f', '{"x":1}')],
    ],
    [
      'of a tool that takes a text, without its one argument',
      [one({ index: 0, id: 'a', ...fn('patch', 'raw') })],
      [{ type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'raw' }],
    ],
  ];
  test.each(shapes)('%s', async (_, chunks, expected) => {
    expect(await completedItems(...chunks, finish('tool_calls'), DONE)).toEqual(expected);
  });

  test('without an id get one that no call in the prompt has', async () => {
    await using server = await ProviderServer.start(
      chatStream(one(fn('f', '{}')), finish('tool_calls'), DONE),
    );
    const { model } = modelAt(server.port, { wireApi: 'chat' });
    const earlier = {
      type: 'function_call',
      call_id: 'call_2_0',
      name: 'f',
      arguments: '{}',
    } as const;
    const input = [
      earlier,
      { type: 'function_call_output', call_id: 'call_2_0', output: '' } as const,
    ];
    const events = await collect(model.stream({ ...request, input }, never));
    expect(events).toContainEqual({ type: 'itemCompleted', item: calls('call_3_0', 'f', '{}') });
  });

  test.each(['stop', 'function_call', 'end_turn'])(
    'are told whatever the finish reason: %s',
    async (reason) => {
      expect(
        await completedItems(one({ index: 0, id: 'a', ...fn('f', '{}') }), finish(reason), DONE),
      ).toEqual([calls('a', 'f', '{}')]);
    },
  );

  test.each<[string, object, string]>([
    [
      'without a name',
      one({ index: 0, id: 'a', function: { arguments: '{}' } }),
      'sent a tool call without a name',
    ],
    ['that is no object', delta({ tool_calls: [7] }), 'sent a tool call in an unknown form'],
    [
      'whose name is a number',
      one({ index: 0, function: { name: 7 } }),
      'sent a tool call in an unknown form',
    ],
    ['in no list', delta({ tool_calls: {} }), 'sent "tool_calls" that are not an array'],
    [
      'more than any model means',
      one(...Array.from({ length: 1001 }, (_each, index) => ({ index, ...fn('f', '') }))),
      'sent more than 1000 tool calls',
    ],
  ])('%s fail the stream', async (_, chunk, text) => {
    expect((await eventsFor(chatStream(chunk, finish('tool_calls'), DONE))).at(-1)).toEqual(
      failed(`P (URL) ${text}.`),
    );
  });

  test('without a name leave the message before them incomplete, so that the request is sent again as it was', async () => {
    const nameless = one({ index: 0, id: 'a', function: { arguments: '{}' } });
    for (const end of [[finish('tool_calls'), DONE], [DONE]]) {
      const events = await eventsFor(chatStream(delta({ content: 'hi' }), nameless, ...end));
      expect(events.map(({ type }) => type)).toEqual([
        'started',
        'itemStarted',
        'textDelta',
        'failed',
      ]);
    }
  });
});

describe('texts, as servers give them', () => {
  test('reasoning under its other name, and both at once', async () => {
    const reasoning = (text: string) => ({
      type: 'reasoning',
      id: 'rs_0',
      summary: [],
      content: [{ type: 'reasoning_text', text }],
    });
    expect(
      await completedItems(delta({ reasoning: 'why' }), delta({ content: 'x' }), finish('stop')),
    ).toEqual([reasoning('why'), assistantMessage('x', 'msg_1')]);
    const both = delta({ reasoning: 'why', reasoning_content: 'why' });
    expect(await completedItems(both, delta({ content: 'x' }), finish('stop'))).toEqual([
      reasoning('why'),
      assistantMessage('x', 'msg_1'),
    ]);
  });

  test('reasoning that goes on after the text began is an item of its own, before the message completes', async () => {
    const chunks = ['a', 'b', 'c'].flatMap((each) => [
      delta({ reasoning: each }),
      delta({ content: each }),
    ]);
    const items = await completedItems(...chunks, finish('stop'));
    expect(items.map((item) => [item.type, 'content' in item ? item.content : null])).toEqual([
      ['reasoning', [{ type: 'reasoning_text', text: 'a' }]],
      ['reasoning', [{ type: 'reasoning_text', text: 'bc' }]],
      ['message', [{ type: 'output_text', text: 'abc' }]],
    ]);
  });

  test('a refusal, and content in parts, read as the text of the message', async () => {
    expect(
      await completedItems(delta({ content: null, refusal: 'I will not.' }), finish('stop')),
    ).toEqual([assistantMessage('I will not.')]);
    const parts = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }];
    expect(await completedItems(delta({ content: parts }), finish('stop'))).toEqual([
      assistantMessage('ab'),
    ]);
  });

  test.each([
    ['content', 'sent a "content" that is not a string'],
    ['refusal', 'sent a "refusal" that is not a string'],
  ])('a %s that is a number fails the stream', async (name, text) => {
    expect((await eventsFor(chatStream(delta({ [name]: 7 })))).at(-1)).toEqual(
      failed(`P (URL) ${text}.`),
    );
  });
});

describe('an answer that says nothing', () => {
  const nothing = chatStream(
    delta({ role: 'assistant', content: '' }),
    finish('stop'),
    counts({ prompt_tokens: 20, completion_tokens: 7 }),
    DONE,
  );
  const failure = failed(
    'P (URL) gave an empty answer, without text or a call. Ask again, or choose another model.',
  );

  test.each<[string, Reply]>([
    ['in a stream', nothing],
    ['but space', chatStream(delta({ content: ' \n' }), finish('stop'), DONE)],
    ['but that it calls', chatStream(delta({ tool_calls: [] }), finish('tool_calls'), DONE)],
    [
      'as a whole',
      refusing(200, {
        choices: [{ message: { role: 'assistant', content: null }, finish_reason: 'stop' }],
      }),
    ],
  ])('%s is a failure, and is not asked for again', async (_, reply) => {
    expect((await eventsFor(reply, { streamMaxRetries: 3 })).at(-1)).toEqual(failure);
  });

  test('but reasons is told so, with the reasoning', async () => {
    const events = await eventsFor(chatStream(delta({ reasoning: 'why' }), finish('stop'), DONE));
    expect(events.map(({ type }) => type)).toEqual([
      'started',
      'itemStarted',
      'reasoningDelta',
      'itemCompleted',
      'failed',
    ]);
    expect(events.at(-1)).toEqual(
      failed(
        'P (URL) ended its answer after reasoning, without text or a call. Ask again, or choose another model.',
      ),
    );
  });

  test('completes if the model has spoken before in the turn', async () => {
    const says = (role: string, text: string) => ({
      type: 'message' as const,
      role,
      content: [{ type: 'input_text' as const, text }],
    });
    const output = { type: 'function_call_output' as const, call_id: 'a', output: 'done' };
    const inputs = [
      [says('user', 'hi'), says('assistant', 'Done.'), output, says('developer', 'note')],
      [says('user', 'hi'), says('assistant', 'Done.'), says('user', 'and now?')],
      [says('user', 'hi'), says('assistant', ' '), output],
    ];
    await using server = await ProviderServer.start(nothing);
    const { model } = modelAt(server.port, { wireApi: 'chat' });
    const ends: unknown[] = [];
    for (const input of inputs)
      ends.push((await collect(model.stream({ ...request, input }, never))).at(-1)?.type);
    expect(ends).toEqual(['completed', 'failed', 'failed']);
  });
});

describe('an end', () => {
  const hello = delta({ content: 'hello' });
  const COUNTS = { prompt_tokens: 20, completion_tokens: 7 };
  test.each<[string, (object | string)[], object | null]>([
    [
      '[DONE] after counts in a chunk of their own',
      [hello, finish('stop'), counts(COUNTS), DONE],
      usage,
    ],
    ['counts with the finish reason', [hello, { ...finish('stop'), usage: COUNTS }, DONE], usage],
    [
      'counts in every chunk, the last ones right',
      [
        { ...hello, usage: { prompt_tokens: 20, completion_tokens: 1 } },
        { ...finish('stop'), usage: COUNTS },
      ],
      usage,
    ],
    [
      'counts before the finish reason alone',
      [{ ...hello, usage: COUNTS }, finish('stop'), DONE],
      usage,
    ],
    ['[DONE] without counts', [hello, finish('stop'), DONE], null],
    ['counts that are null', [hello, { ...finish('stop'), usage: null }, DONE], null],
    [
      'counts in another form',
      [hello, finish('stop'), counts({ prompt_tokens: 'many' }), DONE],
      null,
    ],
    ['no [DONE]: the connection just closes', [hello, finish('stop')], null],
    ['a last chunk without its blank line', [hello, data(finish('stop')).trimEnd()], null],
    ['[DONE] without a finish reason', [hello, DONE], null],
    ['a finish reason that is not known', [hello, finish('eos'), DONE], null],
    [
      'another choice that goes on',
      [hello, finish('stop'), { choices: [{ index: 1, delta: { content: 'no' } }] }, DONE],
      null,
    ],
  ])('%s is success', async (_, chunks, counted) => {
    const events = await eventsFor(chatStream(...chunks));
    expect(events.slice(-2)).toEqual([
      { type: 'itemCompleted', item: assistantMessage('hello') },
      { type: 'completed', usage: counted },
    ]);
  });

  test('a cut after the finish reason is success', async () => {
    const reply: Reply = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': 100_000 });
      res.write(data(hello) + data(finish('stop')), () => res.destroy());
    };
    expect((await eventsFor(reply)).at(-1)).toEqual({ type: 'completed', usage: null });
  });

  test.each<[string, Reply, object]>([
    [
      'before any finish reason',
      chatStream(hello),
      failed(`P (URL) ended its stream before the response was complete. ${PART}`),
    ],
    [
      'with only [DONE]',
      chatStream(DONE),
      failed('P (URL) ended its stream before the response was complete.'),
    ],
    [
      'in the middle of a chunk',
      chatStream(hello, data(finish('stop')).slice(0, 40)),
      failed(`P (URL) ended its stream before the response was complete. ${PART}`),
    ],
    [
      'at the limit of tokens',
      chatStream(hello, finish('length'), DONE),
      failed(
        'P (URL) left its response incomplete: the token limit of the model or the server was reached.',
      ),
    ],
    [
      'by a filter',
      chatStream(hello, finish('content_filter'), DONE),
      failed(
        'P (URL) left its response incomplete: the provider withheld the rest because of its content (content_filter).',
      ),
    ],
    [
      'by an error in the stream',
      chatStream(hello, { error: { message: 'out of memory', code: 500 } }),
      failed('P (URL) could not answer: out of memory.'),
    ],
    [
      'by an error that is a text',
      chatStream('event: error\ndata: {"error":"boom"}\n\n'),
      failed('P (URL) could not answer: boom.'),
    ],
    [
      'by an error with the finish reason',
      chatStream({
        choices: [
          {
            index: 0,
            delta: {},
            finish_reason: 'error',
            error: { message: 'overloaded', code: 'server_is_overloaded' },
          },
        ],
      }),
      failed('P (URL) could not answer: overloaded.', 'serverOverloaded'),
    ],
    [
      'by a full context',
      chatStream({ error: { message: 'too long', code: 'context_length_exceeded' } }),
      failed('P (URL) could not answer: too long.', 'contextWindowExceeded'),
    ],
  ])('%s is failure', async (_, reply, expected) => {
    expect((await eventsFor(reply)).at(-1)).toEqual(expected);
  });

  test('that was cut before any finish reason is asked for again', async () => {
    await using server = await ProviderServer.start(
      chatStream(hello),
      chatStream(hello, finish('stop')),
    );
    const { model, clock } = modelAt(server.port, { wireApi: 'chat', streamMaxRetries: 1 });
    const events = collect(model.stream(request, never));
    await clock.timerOf(200);
    clock.advance(200);
    expect((await events).map(({ type }) => type)).toEqual([
      ...['started', 'itemStarted', 'textDelta', 'retrying', 'started'],
      ...['itemStarted', 'textDelta', 'itemCompleted', 'completed'],
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test('that never comes after the finish reason is not waited for long, and the answer counts', async () => {
    let open: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      open = resolve;
    });
    await using server = await ProviderServer.start((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(data(hello) + data(finish('stop')));
      open();
    });
    const { model, clock } = modelAt(server.port, { wireApi: 'chat' });
    const events = collect(model.stream(request, never));
    await begun;
    await clock.timerOf(2_000);
    clock.advance(2_000);
    expect((await events).slice(-2)).toEqual([
      { type: 'itemCompleted', item: assistantMessage('hello') },
      { type: 'completed', usage: null },
    ]);
    expect(clock.timers).toEqual([]);
  });
});

describe('an answer that is no stream', () => {
  const message = {
    role: 'assistant',
    content: 'Hi',
    reasoning_content: 'why',
    tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
  };
  const whole = {
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 20, completion_tokens: 7 },
  };
  test.each(['application/json', 'text/event-stream'])(
    'is read as a whole, whatever it calls itself: %s',
    async (type) => {
      const events = await eventsFor((res) =>
        res.writeHead(200, { 'content-type': type }).end(JSON.stringify(whole, null, 1)),
      );
      expect(
        events.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : [])),
      ).toEqual([
        {
          type: 'reasoning',
          id: 'rs_0',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'why' }],
        },
        assistantMessage('Hi', 'msg_1'),
        calls('a', 'f', '{}'),
      ]);
      expect(events.at(-1)).toEqual({ type: 'completed', usage });
    },
  );

  test.each<[string, string, string, string]>([
    [
      'an error with success',
      'application/json',
      '{"error":"Unexpected endpoint or method. (POST /x)"}',
      'answered with an error: Unexpected endpoint or method. (POST /x). Check base_url of the provider.',
    ],
    [
      'a page',
      'text/html',
      '<p>',
      'answered with text/html, not with an event stream. Check base_url of the provider.',
    ],
    [
      'JSON that breaks off',
      'application/json',
      '{"choices":[',
      'ended its stream before the response was complete.',
    ],
    [
      'JSON about something else',
      'application/json',
      '{}',
      'ended its stream before the response was complete.',
    ],
  ])('%s fails', async (_, type, body, text) => {
    const events = await eventsFor((res) => res.writeHead(200, { 'content-type': type }).end(body));
    expect(events.at(-1)).toEqual(failed(`P (URL) ${text}`));
  });
});

test('a stream cut anywhere, inside characters and lines, gives the same events', async () => {
  const chunks = [
    delta({ reasoning: 'dé' }),
    delta({ content: '🧵 ok' }),
    delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }),
  ];
  const bytes = Buffer.from(
    [...chunks, finish('tool_calls'), counts({ prompt_tokens: 20, completion_tokens: 7 }), DONE]
      .map(data)
      .join(''),
  );
  const whole = await eventsFor((res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes),
  );
  const cut: Reply = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < bytes.length; at += 7)
      await new Promise((sent) => res.write(bytes.subarray(at, at + 7), sent));
    res.end();
  };
  expect(await eventsFor(cut)).toEqual(whole);
});

describe('a provider that says no more in the middle of its answer', () => {
  const hanging: Reply = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(data(delta({ content: 'hello' })));
  };

  test('fails when it has been silent for too long', async () => {
    await using server = await ProviderServer.start(hanging);
    const { model, clock } = modelAt(server.port, { wireApi: 'chat' });
    const events = model.stream(request, never)[Symbol.asyncIterator]();
    for (const type of ['started', 'itemStarted', 'textDelta'])
      expect((await events.next()).value).toMatchObject({ type });
    const last = events.next();
    await clock.timerOf(IDLE_MS);
    clock.advance(IDLE_MS);
    const text = `P (http://127.0.0.1:${server.port}/v1/chat/completions) was silent for 5 s, the limit set by stream_idle_timeout_ms. ${PART}`;
    expect((await last).value).toEqual(failed(text));
    expect(clock.timers).toEqual([]);
  });

  test('is left at once by an abort, quietly', async () => {
    await using server = await ProviderServer.start(hanging);
    const { model, clock } = modelAt(server.port, { wireApi: 'chat' });
    const stop = new AbortController();
    const types: string[] = [];
    for await (const { type } of model.stream(request, stop.signal)) {
      types.push(type);
      if (type === 'textDelta') stop.abort();
    }
    expect(types).toEqual(['started', 'itemStarted', 'textDelta']);
    expect(clock.timers).toEqual([]);
  });
});

test('requests one after another use the same connections again, and leave no timers', async () => {
  const counted = counts({ prompt_tokens: 1, completion_tokens: 1 });
  await using server = await ProviderServer.start(
    chatStream(delta({ content: 'hello' }), finish('stop'), counted, DONE),
  );
  const { model, clock } = modelAt(server.port, { wireApi: 'chat' });
  for (let n = 0; n < 20; n++)
    expect((await collect(model.stream(request, never))).at(-1)).toMatchObject({
      type: 'completed',
    });
  // The end of an answer may still be under way when the next request leaves, on a second
  // connection.
  expect(server.connectionsUsed).toBeLessThanOrEqual(2);
  await clock.idle();
});
