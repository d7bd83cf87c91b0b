import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { chatMessages } from '../../src/model/chat/chat-messages.ts';
import type { ModelRequest } from '../../src/model/model.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { chatAnswered } from './chat-stream.ts';
import {
  collect,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
} from './provider-server.ts';

async function sent(changes: Partial<ModelRequest>) {
  await using server = await ProviderServer.start(chatAnswered);
  await collect(
    modelAt(server.port, { wireApi: 'chat' }).model.stream({ ...request, ...changes }, never),
  );
  const [asked] = server.requests;
  return { url: asked?.url, body: asked?.body as Record<string, unknown> };
}

const messagesOf = async (...input: ResponseItem[]) =>
  (await sent({ input, instructions: 'sys' })).body.messages;

const text = (role: string, ...texts: string[]): ResponseItem => ({
  type: 'message',
  role,
  content: texts.map((each) => ({
    type: role === 'assistant' ? 'output_text' : 'input_text',
    text: each,
  })),
});
const call = (call_id: string, args = '{}'): ResponseItem => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: args,
});
const output = (call_id: string, out = 'out'): ResponseItem => ({
  type: 'function_call_output',
  call_id,
  output: out,
});
const wireCall = (id: string, args = '{}', name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

test('the request goes to chat/completions, with nothing that is not set', async () => {
  expect(await sent({})).toEqual({
    url: '/v1/chat/completions',
    body: {
      model: 'm',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hi' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  });
});

test('an optional schema is left out beside tools', async () => {
  const tools = [
    {
      type: 'function' as const,
      name: 'plan',
      description: 'Plans.',
      parameters: { type: 'object', properties: {} },
    },
  ];
  const outputSchema = { type: 'object' };
  expect((await sent({ tools, outputSchema, schemaIsOptional: true })).body).not.toHaveProperty(
    'response_format',
  );
  expect((await sent({ tools: [], outputSchema, schemaIsOptional: true })).body).toHaveProperty(
    'response_format',
  );
});

test('everything that a request can set is sent', async () => {
  const parameters = { type: 'object', properties: {} };
  const { body } = await sent({
    tools: [
      { type: 'function', name: 'plan', description: 'Plans.', parameters },
      {
        type: 'custom',
        name: 'patch',
        description: 'Patches.',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
    ],
    effort: 'low',
    summary: 'detailed',
    outputSchema: { type: 'object' },
    serviceTier: 'fast',
    verbosity: 'high',
  });
  expect(body).toEqual({
    model: 'm',
    messages: expect.any(Array),
    tools: [
      { type: 'function', function: { name: 'plan', description: 'Plans.', parameters } },
      {
        type: 'function',
        function: {
          name: 'patch',
          description: 'Patches.',
          parameters: {
            type: 'object',
            properties: { input: { type: 'string' } },
            required: ['input'],
            additionalProperties: false,
          },
        },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: 'low',
    verbosity: 'high',
    service_tier: 'priority',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'output', strict: true, schema: { type: 'object' } },
    },
  });
});

test('what a model said and called in one answer is one message, without its reasoning, and the outputs follow', async () => {
  const reasoning: ResponseItem = {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'because' }],
  };
  const items = [
    text('user', 'go'),
    reasoning,
    text('assistant', 'Two things.'),
    call('a', '{"x":1}'),
    call('b', ''),
  ];
  expect(
    await messagesOf(
      ...items,
      output('a', 'one'),
      output('b', 'two'),
      call('c'),
      output('c'),
      text('assistant', 'Done.'),
    ),
  ).toEqual([
    { role: 'system', content: 'sys' },
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: 'Two things.',
      tool_calls: [wireCall('a', '{"x":1}'), wireCall('b')],
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: 'two' },
    { role: 'assistant', content: null, tool_calls: [wireCall('c')] },
    { role: 'tool', tool_call_id: 'c', content: 'out' },
    { role: 'assistant', content: 'Done.' },
  ]);
});

test('a model that wants its reasoning back gets all of it, in the messages that followed it, from then on', async () => {
  const thought = (words: string): ResponseItem => ({
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: words }],
  });
  const input = [
    text('user', 'go'),
    thought('a'),
    thought('b'),
    text('assistant', 'Yes.'),
    call('a'),
    output('a'),
    thought('c'),
    call('b'),
  ];
  const all = [
    ...input,
    output('b'),
    text('assistant', 'Done.'),
    thought('lost'),
    text('user', 'next'),
  ];
  const wants: Reply = (res, req, body) => {
    const { messages } = body as { messages: { role: string; reasoning_content?: string }[] };
    const lacks = messages.some(
      ({ role, reasoning_content }) => role === 'assistant' && reasoning_content === undefined,
    );
    const error = {
      message:
        'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    };
    return (lacks ? refusing(400, { error }) : chatAnswered)(res, req, body);
  };
  await using server = await ProviderServer.start(wants);
  const { model } = modelAt(server.port, { wireApi: 'chat' });
  for (let n = 0; n < 2; n++) {
    const events = await collect(model.stream({ ...request, input: all }, never));
    expect([events.map(({ type }) => type), events.at(-1)?.type]).toEqual([
      expect.not.arrayContaining(['leftOut']),
      'completed',
    ]);
  }
  const thoughts = server.requests.map(({ body }) => {
    const { messages } = body as { messages: { role: string; reasoning_content?: string }[] };
    return messages
      .filter(({ role }) => role === 'assistant')
      .map(({ reasoning_content = null }) => reasoning_content);
  });
  expect(thoughts).toEqual([
    [null, null, null],
    ['a\n\nb', 'c', ''],
    ['a\n\nb', 'c', ''],
  ]);
});

test('reasoning after a picture of a tool stays with the call that followed it', async () => {
  const picture = [{ type: 'input_image' as const, image_url: 'data:image/png;base64,AA==' }];
  const input: ResponseItem[] = [
    text('user', 'look'),
    call('a'),
    { type: 'function_call_output', call_id: 'a', output: picture },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'seen' }] },
    call('b'),
  ];
  const messages = await chatMessages(
    { instructions: '', input },
    { pace: new EventLoopYield(), withThoughts: true },
  );
  const thoughts = messages.map(({ role, reasoning_content = null }) => ({
    role,
    reasoning_content,
  }));
  expect(thoughts).toEqual([
    { role: 'user', reasoning_content: null },
    { role: 'assistant', reasoning_content: '' },
    { role: 'tool', reasoning_content: null },
    { role: 'user', reasoning_content: null },
    { role: 'assistant', reasoning_content: 'seen' },
  ]);
});

test('instructions before the first turn are the system message, later ones the user says; neighbours are one message', async () => {
  expect(
    await messagesOf(
      text('developer', 'rules'),
      text('system', 'more'),
      text('user', 'context'),
      text('user', 'one', 'two'),
      text('assistant', 'first'),
      text('assistant', ''),
      text('assistant', 'second'),
      text('developer', 'new rules'),
      text('user', 'three'),
    ),
  ).toEqual([
    { role: 'system', content: 'sys\n\nrules\n\nmore' },
    { role: 'user', content: 'context\n\none\n\ntwo' },
    { role: 'assistant', content: 'first\n\nsecond' },
    { role: 'user', content: 'new rules\n\nthree' },
  ]);
});

test('pictures are parts; those that a tool gave follow its output', async () => {
  const user: ResponseItem = {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'what is this?' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
      { type: 'input_image', image_url: 'data:image/png;base64,BBBB', detail: 'original' },
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_audio', audio_url: 'data:audio/wav;base64,CCCC' },
    ],
  };
  const shown: ResponseItem = {
    type: 'function_call_output',
    call_id: 'a',
    output: {
      body: [
        { type: 'input_text', text: 'see' },
        { type: 'input_image', image_url: 'data:image/png;base64,DDDD' },
      ],
      success: true,
    },
  };
  expect(
    await messagesOf(user, call('a'), call('b'), shown, output('b'), text('assistant', 'A cat.')),
  ).toEqual([
    { role: 'system', content: 'sys' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'what is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,BBBB' } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [wireCall('a'), wireCall('b')] },
    { role: 'tool', tool_call_id: 'a', content: 'see' },
    { role: 'tool', tool_call_id: 'b', content: 'out' },
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,DDDD' } }],
    },
    { role: 'assistant', content: 'A cat.' },
  ]);
});

test('calls of other kinds are functions too, and arguments that are no object are put into one', async () => {
  const action = { type: 'exec' as const, command: ['ls'] };
  expect(
    await messagesOf(
      { type: 'custom_tool_call', call_id: 'p', name: 'patch', input: '*** Begin' },
      { type: 'local_shell_call', call_id: 's', status: 'completed', action },
      call('g', 'garb{'),
      call('n', '[1]'),
      { type: 'custom_tool_call_output', call_id: 'p', output: 'ok' },
      output('s'),
      output('g'),
      output('n'),
    ),
  ).toEqual([
    { role: 'system', content: 'sys' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        wireCall('p', '{"input":"*** Begin"}', 'patch'),
        wireCall('s', JSON.stringify(action), 'local_shell'),
        wireCall('g', '{"arguments":"garb{"}'),
        wireCall('n', '{"arguments":"[1]"}'),
      ],
    },
    { role: 'tool', tool_call_id: 'p', content: 'ok' },
    ...['s', 'g', 'n'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'out' })),
  ]);
});

test('what has no form in this API is left out', async () => {
  expect(
    await messagesOf(
      text('user', 'hi'),
      { type: 'web_search_call', status: 'completed' },
      { type: 'image_generation_call', id: 'i', status: 'completed', result: 'AAAA' },
      { type: 'compaction', encrypted_content: 'x' },
      { type: 'tool_search_call', execution: 'client', arguments: {} },
      { type: 'local_shell_call', status: 'completed', action: { type: 'exec', command: [] } },
      output('never called'),
      { type: 'other' },
    ),
  ).toEqual([
    { role: 'system', content: 'sys' },
    { role: 'user', content: 'hi' },
  ]);
});

const items: fc.Arbitrary<ResponseItem> = fc.oneof(
  fc
    .constantFrom('user', 'assistant', 'developer')
    .chain((role) => fc.constantFrom('', 'x').map((each) => text(role, each))),
  fc.constantFrom('a', 'b').map((id) => call(id)),
  fc.constantFrom('a', 'b').map((id) => output(id)),
  fc.constant<ResponseItem>({ type: 'reasoning', summary: [] }),
);

test('a message can have very many parts', async () => {
  const { chatMessages } = await import('../../src/model/chat/chat-messages.ts');
  const content = Array.from({ length: 200_000 }, () => ({
    type: 'input_text' as const,
    text: 'x',
  }));
  const input: ResponseItem[] = [text('user', 'one'), { type: 'message', role: 'user', content }];
  const messages = await chatMessages(
    { instructions: 'sys', input },
    { pace: new EventLoopYield() },
  );
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
});

test('whatever the history, one system message begins, no neighbours share a role but tools, and no output stands alone', async () => {
  const { chatMessages } = await import('../../src/model/chat/chat-messages.ts');
  const pace = new EventLoopYield();
  await fc.assert(
    fc.asyncProperty(fc.array(items, { maxLength: 15 }), async (history) => {
      const messages = await chatMessages({ instructions: 'sys', input: history }, { pace });
      const withThoughts = await chatMessages(
        { instructions: 'sys', input: history },
        { pace, withThoughts: true },
      );
      expect(
        withThoughts.filter(
          ({ role, reasoning_content }) =>
            (role === 'assistant') !== (typeof reasoning_content === 'string'),
        ),
      ).toEqual([]);
      expect(withThoughts.map(({ reasoning_content: _, ...others }) => others)).toEqual(messages);
      expect(messages.map(({ role }) => role).lastIndexOf('system')).toBe(0);
      const known = new Set<unknown>();
      for (const [place, message] of messages.entries()) {
        if (message.role !== 'tool') expect(message.role).not.toBe(messages[place - 1]?.role);
        else expect(known.has(message.tool_call_id)).toBe(true);
        for (const each of (message.tool_calls ?? []) as { id: string }[]) known.add(each.id);
      }
    }),
    { numRuns: 300 },
  );
});
