import { describe, expect, test } from 'vitest';
import { chatStream, counts, DONE, data, delta, finish } from '../model/chat-stream.ts';
import {
  message,
  ProviderServer,
  type Reply,
  refusing,
  sse,
  streaming,
} from '../model/provider-server.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

/** The same responses in the formats of both APIs. */
interface Answers {
  responses: Reply[];
  chat: Reply[];
}

type WireApi = keyof Answers;

/** A user's requests on a thread whose provider responds like this. */
type Act = (server: TestServer, provider: ProviderServer) => Promise<void>;

/**
 * All notifications to the client, and the roles in each request to the provider, without anything
 * that names the API.
 */
async function turnInApi(wireApi: WireApi, answers: Answers, act: Act) {
  await using provider = await ProviderServer.start(...answers[wireApi]);
  const config = `model = "m"\nmodel_provider = "p"\nshow_raw_agent_reasoning = true
[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "${wireApi}"
request_max_retries = 0\nstream_max_retries = 1\n`;
  const server = await startServer({ config, model: null });
  await server.client.request('thread/start', {});
  await act(server, provider);
  await server.close();
  const masked = JSON.stringify(server.client.messages)
    .replaceAll(server.folder, 'FOLDER')
    .replace(/http:\/\/[\d.:]+\/v1\/(?:responses|chat\/completions)/g, 'URL');
  return JSON.parse(masked) as { method?: string; params?: unknown }[];
}

async function expectSame(answers: Answers, act: Act): Promise<string[]> {
  const chat = await turnInApi('chat', answers, act);
  expect(chat).toEqual(await turnInApi('responses', answers, act));
  return chat.flatMap(({ method }) => (method === undefined ? [] : [method]));
}

const oneTurn: Act = async ({ client }) => void (await client.turn(idOf(1), 'hi'));

const COUNTS = {
  input_tokens: 20,
  output_tokens: 7,
  total_tokens: 27,
  input_tokens_details: { cached_tokens: 4 },
};
const CHAT_COUNTS = counts({
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 4 },
});
const completed = { type: 'response.completed', response: { id: 'resp_1', usage: COUNTS } };
const ended = (reason = 'stop') => [finish(reason), CHAT_COUNTS, DONE];

const reasoned = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs', summary: [] },
  },
  { type: 'response.reasoning_text.delta', item_id: 'rs', content_index: 0, delta: 'be' },
  { type: 'response.reasoning_text.delta', item_id: 'rs', content_index: 0, delta: 'cause' },
  {
    type: 'response.output_item.done',
    item: {
      type: 'reasoning',
      id: 'rs',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'because' }],
    },
  },
];
const called = (call_id: string, args: string) => ({
  type: 'response.output_item.done',
  item: { type: 'function_call', id: call_id, call_id, name: 'update_plan', arguments: args },
});
const chatCalled = (index: number, id: string, args: string) =>
  delta({
    tool_calls: [
      { index, id, type: 'function', function: { name: 'update_plan', arguments: args } },
    ],
  });

const plain: Answers = {
  responses: [streaming(...reasoned, ...message('Hello'), completed)],
  chat: [
    chatStream(
      delta({ reasoning_content: 'be' }),
      delta({ reasoning_content: 'cause' }),
      delta({ content: 'Hello' }),
      ...ended(),
    ),
  ],
};

describe('a turn looks the same to clients with either API:', () => {
  test('reasoning, a message and token usage', async () => {
    const methods = await expectSame(plain, oneTurn);
    expect(methods.slice(-13)).toEqual([
      'turn/started',
      ...['item/started', 'item/completed'],
      ...['item/started', 'item/reasoning/textDelta', 'item/reasoning/textDelta', 'item/completed'],
      ...['item/started', 'item/agentMessage/delta', 'item/completed'],
      ...['thread/tokenUsage/updated', 'thread/status/changed', 'turn/completed'],
    ]);
  });

  test('tools that are called in parallel, and the message after them', async () => {
    const [first, second] = ['{"plan":[{"step":"a","status":"pending"}]}', '{"plan":[]}'];
    const answers = {
      responses: [
        streaming(...message('Two.'), called('a', first), called('b', second), completed),
        streaming(...message('Done'), completed),
      ],
      chat: [
        chatStream(
          delta({ content: 'Two.' }),
          chatCalled(0, 'a', first),
          chatCalled(1, 'b', second),
          ...ended('tool_calls'),
        ),
        chatStream(delta({ content: 'Done' }), ...ended()),
      ],
    };
    const methods = await expectSame(answers, oneTurn);
    expect(methods.filter((method) => method === 'turn/plan/updated')).toHaveLength(2);
  });

  test('reasoning in the tags of a message, cut anywhere, and a turn after it', async () => {
    const begin = message('').slice(0, 1);
    const whole = '<think>be\ncause</think>\n\nHello';
    const deltas = ['<th', 'ink>be\n', 'cause</', 'think>\n', '\nHel', 'lo'];
    const texts = deltas.map((each) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      delta: each,
    }));
    const tagged: Answers = {
      responses: [
        streaming(...begin, ...texts, ...message(whole).slice(2), completed),
        ...plain.responses,
      ],
      chat: [chatStream(...deltas.map((content) => delta({ content })), ...ended()), ...plain.chat],
    };
    const methods = await expectSame(tagged, async ({ client }, provider) => {
      await client.turn(idOf(1), 'hi');
      await client.turn(idOf(1), 'next');
      expect(JSON.stringify(provider.requests[1]?.body)).toContain('Hello');
      expect(JSON.stringify(provider.requests[1]?.body)).not.toContain('be\\ncause');
      const { thread } = await client.request('thread/read', {
        threadId: idOf(1),
        includeTurns: true,
      });
      expect(thread.turns[0]?.items.slice(1)).toMatchObject([
        { type: 'reasoning', content: ['be\ncause'] },
        { type: 'agentMessage', text: 'Hello' },
      ]);
    });
    expect(methods.filter((method) => method === 'item/agentMessage/delta')).toHaveLength(3);
  });

  const failures: [string, Answers][] = [
    [
      'a refused key',
      { responses: [refusing(401, { error: 'no' })], chat: [refusing(401, { error: 'no' })] },
    ],
    [
      'a full context',
      {
        responses: [refusing(400, { error: { code: 'context_length_exceeded', message: 'full' } })],
        chat: [refusing(400, { error: { code: 'context_length_exceeded', message: 'full' } })],
      },
    ],
    [
      'an error in the middle of a message',
      {
        responses: [
          streaming(...message('Hel').slice(0, 2), {
            error: { code: 'insufficient_quota', message: 'paid out' },
          }),
        ],
        chat: [
          chatStream(delta({ content: 'Hel' }), {
            error: { code: 'insufficient_quota', message: 'paid out' },
          }),
        ],
      },
    ],
  ];
  test.each(failures)('%s', async (_, answers) => {
    const methods = await expectSame(answers, oneTurn);
    expect(methods.slice(-3)).toEqual(['thread/status/changed', 'error', 'turn/completed']);
  });

  test('a stream that breaks off and is retried', async () => {
    const answers = {
      responses: [streaming(...message('Hel').slice(0, 2)), ...plain.responses],
      chat: [chatStream(delta({ content: 'Hel' })), ...plain.chat],
    };
    const methods = await expectSame(answers, async ({ client, clock }) => {
      const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
      await client.waitFor('error');
      await clock.timerOf(200);
      clock.advance(200);
      await client.turnCompleted(turn.id);
    });
    expect(methods.filter((method) => method === 'error')).toHaveLength(1);
  });

  /** A message that has begun and never completes. */
  const begun: Answers = {
    responses: [(res) => res.writeHead(200).write(message('Hel').slice(0, 2).map(sse).join(''))],
    chat: [(res) => res.writeHead(200).write(data(delta({ content: 'Hel' })))],
  };

  test('an interrupt in the middle of a message, and the next turn', async () => {
    const answers = {
      responses: [...begun.responses, ...plain.responses],
      chat: [...begun.chat, ...plain.chat],
    };
    const methods = await expectSame(answers, async ({ client }) => {
      const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
      await client.waitFor('item/agentMessage/delta');
      await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
      expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
      await client.turn(idOf(1), 'again');
    });
    expect(methods.filter((method) => method === 'turn/completed')).toHaveLength(2);
  });

  test('a steer in the middle of a message', async () => {
    const answers = {
      responses: [...begun.responses, ...plain.responses],
      chat: [...begun.chat, ...plain.chat],
    };
    await expectSame(answers, async ({ client }, provider) => {
      const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
      await client.waitFor('item/agentMessage/delta');
      await client.request('turn/steer', {
        threadId: idOf(1),
        expectedTurnId: turn.id,
        input: text('shorter'),
      });
      expect((await client.turnCompleted(turn.id)).status).toBe('completed');
      expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('shorter');
    });
  });
});

test('a chat model reads its messages, its calls with their outputs, and the next message of the user', async () => {
  const args = '{"plan":[]}';
  await using provider = await ProviderServer.start(
    chatStream(
      delta({ reasoning_content: 'hm', content: 'Two.' }),
      chatCalled(0, 'a', args),
      chatCalled(1, 'b', '{'),
      ...ended('tool_calls'),
    ),
    chatStream(delta({ content: 'Done' }), ...ended()),
    chatStream(delta({ content: 'Bye' }), ...ended()),
  );
  const config = `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "chat"\n`;
  const { client } = await startServer({ config, model: null });
  await client.request('thread/start', {});
  await client.turn(idOf(1), 'hi');
  await client.turn(idOf(1), 'next');
  const { messages } = (provider.requests.at(-1)?.body ?? { messages: [] }) as {
    messages: { role: string }[];
  };
  const call = (id: string, text: string) => ({
    id,
    type: 'function',
    function: { name: 'update_plan', arguments: text },
  });
  expect(messages.map(({ role }) => role).slice(0, 2)).toEqual(['system', 'user']);
  expect(messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: 'Two.',
      tool_calls: [call('a', args), call('b', '{"arguments":"{"}')],
    },
    { role: 'tool', tool_call_id: 'a', content: 'The plan is updated.' },
    {
      role: 'tool',
      tool_call_id: 'b',
      content: 'The arguments of update_plan are not valid JSON.',
    },
    { role: 'assistant', content: 'Done' },
    { role: 'user', content: 'next' },
  ]);
});

describe('a chat provider that serves less than others:', () => {
  const configFor = (provider: ProviderServer) =>
    `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "chat"\nstream_max_retries = 0\n`;
  const answer = chatStream(delta({ content: '{}' }), ...ended());

  test('a parameter that it refuses is left out, and each thread is told once if the client asked for it', async () => {
    const reply: Reply = (res, req, body) => {
      const found = ['stream_options', 'response_format'].find((name) => name in (body as object));
      if (found === undefined) return answer(res, req, body);
      return refusing(400, { error: { message: `Unsupported parameter: '${found}'.` } })(
        res,
        req,
        body,
      );
    };
    await using provider = await ProviderServer.start(reply);
    const { client } = await startServer({ config: configFor(provider), model: null });
    const threads: string[] = [];
    for (const turns of [2, 1]) {
      const { thread } = await client.request('thread/start', {});
      threads.push(thread.id);
      for (let n = 0; n < turns; n++) {
        const { turn } = await client.request('turn/start', {
          threadId: thread.id,
          input: text('hi'),
          outputSchema: { type: 'object' },
        });
        expect((await client.turnCompleted(turn.id)).status).toBe('completed');
      }
    }
    const message = `p (http://127.0.0.1:${provider.port}/v1/chat/completions) answered HTTP 400. Unsupported parameter: 'response_format'. The request is sent without response_format. The answer may not have the form of the output schema.`;
    expect(client.notifications('warning')).toEqual(
      threads.map((threadId) => ({ threadId, message })),
    );
    expect(provider.requests).toHaveLength(5);
  });

  test('an answer that says nothing fails the turn, and the next one works', async () => {
    await using provider = await ProviderServer.start(
      chatStream(delta({ content: '' }), ...ended()),
      answer,
    );
    const { client } = await startServer({ config: configFor(provider), model: null });
    await client.request('thread/start', {});
    const url = `http://127.0.0.1:${provider.port}/v1/chat/completions`;
    expect(await client.turn(idOf(1), 'hi')).toMatchObject({
      status: 'failed',
      error: {
        message: `p (${url}) gave an empty answer, without text or a call. Ask again, or choose another model.`,
      },
    });
    expect(await client.turn(idOf(1), 'again')).toMatchObject({ status: 'completed', error: null });
  });

  test('with the Responses API, the turn completes, and a warning says so', async () => {
    await using provider = await ProviderServer.start(streaming(completed));
    const { client } = await startServer({
      config: configFor(provider).replace('wire_api = "chat"\n', ''),
      model: null,
    });
    await client.request('thread/start', {});
    expect(await client.turn(idOf(1), 'hi')).toMatchObject({ status: 'completed', error: null });
    const url = `http://127.0.0.1:${provider.port}/v1/responses`;
    const message = `p (${url}) gave an empty answer, without text or a call. Ask again, or choose another model.`;
    expect(client.notifications('warning')).toEqual([{ threadId: idOf(1), message }]);
  });

  test('a connection that is reset in the middle of an answer fails the turn, which keeps that part and says so', async () => {
    const reply: Reply = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(data(delta({ content: 'Hel' })), () => res.destroy());
    };
    await using provider = await ProviderServer.start(reply);
    const { client } = await startServer({ config: configFor(provider), model: null });
    await client.request('thread/start', {});
    const { error } = await client.turn(idOf(1), 'hi');
    expect(error?.message).toMatch(
      / broke off its stream before the response was complete \(ECONNRESET\)\. Only a part of the answer came\.$/,
    );
    const { thread } = await client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.turns[0]?.items.at(-1)).toMatchObject({ type: 'agentMessage', text: 'Hel' });
  });

  test('reasoning in tags is a reasoning item, not a part of the message', async () => {
    const chunks = ['<thi', 'nk>\nbecause', '\n</think>\n', '\nHello'].map((content) =>
      delta({ content }),
    );
    await using provider = await ProviderServer.start(chatStream(...chunks, ...ended()));
    const { client } = await startServer({
      config: `show_raw_agent_reasoning = true\n${configFor(provider)}`,
      model: null,
    });
    await client.request('thread/start', {});
    await client.turn(idOf(1), 'hi');
    const items = client.notifications('item/completed').map(({ item }) => item);
    expect(items.slice(1)).toEqual([
      expect.objectContaining({ type: 'reasoning', content: ['because'] }),
      expect.objectContaining({ type: 'agentMessage', text: 'Hello' }),
    ]);
  });
});
