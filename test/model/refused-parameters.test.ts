import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHAT_PARAMETERS } from '../../src/model/chat/chat-parameters.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../../src/model/model.ts';
import { RESPONSE_PARAMETERS } from '../../src/model/responses/response-parameters.ts';
import { chatAnswered, chatStream } from './chat-stream.ts';
import {
  answered,
  collect,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
} from './provider-server.ts';

const tool: ToolSpec = {
  type: 'function',
  name: 'f',
  description: '',
  parameters: { type: 'object', properties: {} },
};
const schema = { type: 'object', properties: {} };
/** A request with every parameter. */
const full: ModelRequest = {
  ...request,
  tools: [tool],
  effort: 'high',
  verbosity: 'low',
  serviceTier: 'flex',
  outputSchema: schema,
  clientMetadata: { thread: 't' },
  webSearch: { mode: 'live', contextSize: null, allowedDomains: [], location: null },
};
const APIS = {
  chat: {
    parameters: CHAT_PARAMETERS,
    required: ['model', 'messages', 'tools', 'stream'],
    answer: chatAnswered,
  },
  responses: {
    parameters: RESPONSE_PARAMETERS,
    required: [
      'model',
      'instructions',
      'input',
      'tools',
      'store',
      'stream',
      'reasoning',
      'include',
    ],
    answer: answered,
  },
} as const;
type WireApi = keyof typeof APIS;

/** The optional parameters in the body of a request. */
function sentIn(body: unknown, wireApi: WireApi): string[] {
  const {
    text = {},
    tools = [],
    ...fields
  } = body as Record<string, unknown> & { text?: object; tools?: { type: string }[] };
  const names = [
    ...Object.keys(fields),
    'tools',
    ...Object.keys(text).map((name) => `text.${name}`),
  ];
  if (tools.some(({ type }) => type === 'web_search')) names.push('web_search');
  return names
    .filter((name) => !(APIS[wireApi].required as readonly string[]).includes(name))
    .sort();
}

/** How servers refuse a parameter. */
const WORDINGS: ((name: string) => [number, object | string])[] = [
  (name) => [
    400,
    {
      error: {
        message: `Unsupported parameter: '${name}' is not supported with this model.`,
        param: name,
      },
    },
  ],
  (name) => [
    400,
    {
      error: {
        message: `Unrecognized request argument supplied: ${name}`,
        type: 'invalid_request_error',
      },
    },
  ],
  (name) => [
    422,
    {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', name],
          msg: 'Extra inputs are not permitted',
          input: 'web_search',
        },
      ],
    },
  ],
  (name) => [
    400,
    {
      object: 'error',
      message: `[{'type': 'extra_forbidden', 'loc': ('body', '${name}')}]`,
      code: 400,
    },
  ],
  (name) => [
    400,
    [
      {
        error: {
          code: 400,
          message: `Unknown name "${name}": Cannot find field.`,
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ],
  (name) => [
    400,
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: `{"error":"${name} is not allowed"}` },
      },
    },
  ],
  (name) => [400, `json: unknown field "${name}"`],
  (name) => [404, { error: { message: `No endpoints found that support ${name}.`, code: 404 } }],
  (name) => [501, { error: { message: `${name} is not implemented` } }],
];

/** Refuses requests that have one of these parameters. */
function refusingParameters(
  wireApi: WireApi,
  refused: readonly string[],
  wording: (name: string) => [number, object | string],
): Reply {
  return (res, req, body) => {
    const found = sentIn(body, wireApi).find((name) => refused.includes(name));
    if (found === undefined) return APIS[wireApi].answer(res, req, body);
    return refusing(...wording(found))(res, req, body);
  };
}

const leftOut = (events: ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'leftOut' ? [event.parameter] : []));

describe.each(['chat', 'responses'] as const)('a provider with the API %s', (wireApi) => {
  const { parameters } = APIS[wireApi];
  const names = parameters.map(({ name }) => name);

  test('gets each parameter that it may refuse, and no other beside those that every request needs', async () => {
    await using server = await ProviderServer.start(APIS[wireApi].answer);
    await collect(modelAt(server.port, { wireApi }).model.stream(full, never));
    expect(sentIn(server.requests[0]?.body, wireApi)).toEqual([...names].sort());
  });

  test.each(names)(
    'that refuses %s in any words is asked without it, and not asked with it again',
    async (name) => {
      for (const wording of WORDINGS) {
        await using server = await ProviderServer.start(
          refusingParameters(wireApi, [name], wording),
        );
        const { model } = modelAt(server.port, { wireApi });
        const costs = parameters.find((parameter) => parameter.name === name)?.loss !== null;
        for (let n = 0; n < 2; n++) {
          const events = await collect(
            model.stream({ ...full, promptCacheKey: `thread-${n}` }, never),
          );
          expect(events.at(-1)).toMatchObject({ type: 'completed' });
          expect(leftOut(events)).toEqual(costs ? [name] : []);
        }
        const rest = names.filter((each) => each !== name).sort();
        expect(server.requests.map(({ body }) => sentIn(body, wireApi))).toEqual([
          [...names].sort(),
          rest,
          rest,
        ]);
      }
    },
  );

  test('whichever it refuses, the others are sent, and another model gets all', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(names),
        fc.constantFrom(...WORDINGS),
        async (refused, wording) => {
          await using server = await ProviderServer.start(
            refusingParameters(wireApi, refused, wording),
          );
          const { model } = modelAt(server.port, { wireApi });
          const events = await collect(model.stream(full, never));
          expect(events.at(-1)).toMatchObject({ type: 'completed' });
          const [taken, all] = [
            names.filter((name) => !refused.includes(name)).sort(),
            [...names].sort(),
          ];
          expect(sentIn(server.requests.at(-1)?.body, wireApi)).toEqual(taken);
          expect(server.requests).toHaveLength(refused.length + 1);
          await collect(model.stream(full, never));
          expect(server.requests).toHaveLength(refused.length + 2);
          await collect(model.stream({ ...full, model: 'other' }, never));
          expect(sentIn(server.requests[refused.length + 2]?.body, wireApi)).toEqual(all);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a refusal', () => {
  const chat = { wireApi: 'chat' } as const;

  test('of a word that the user chose does not count for another word', async () => {
    const reply: Reply = (res, req, body) => {
      const { reasoning_effort: effort } = body as { reasoning_effort?: string };
      if (effort !== 'xhigh') return chatAnswered(res, req, body);
      return refusing(400, {
        error: { message: "reasoning_effort: Input should be 'low' or 'high'" },
      })(res, req, body);
    };
    await using server = await ProviderServer.start(reply);
    const { model } = modelAt(server.port, chat);
    for (const effort of ['xhigh', 'high', 'xhigh'])
      await collect(model.stream({ ...request, effort }, never));
    const sent = server.requests.map(
      ({ body }) => (body as { reasoning_effort?: string }).reasoning_effort,
    );
    expect(sent).toEqual(['xhigh', undefined, 'high', undefined]);
  });

  test('is told with what it costs, without secrets', async () => {
    const key = 'sk-secret-0123456789';
    const refusal = { error: { message: `response_format is unavailable for ${key}` } };
    await using server = await ProviderServer.start(refusing(400, refusal), chatAnswered);
    const { model } = modelAt(server.port, { ...chat, envKey: 'KEY' }, { env: { KEY: key } });
    const events = await collect(model.stream({ ...request, outputSchema: schema }, never));
    const label = `P (http://127.0.0.1:${server.port}/v1/chat/completions)`;
    expect(events[1]).toEqual({
      type: 'leftOut',
      parameter: 'response_format',
      message: `${label} answered HTTP 400. response_format is unavailable for … The request is sent without response_format. The answer may not have the form of the output schema.`,
    });
  });

  const schemaFault =
    "Invalid schema for response_format 'output': 'additionalProperties' is required to be supplied and to be false.";
  test.each<[string, number, object]>([
    [
      'of a schema that the client has to correct',
      400,
      { error: { message: schemaFault, param: 'response_format' } },
    ],
    [
      'of what was not sent',
      400,
      { error: { message: "Unsupported parameter: 'max_completion_tokens'" } },
    ],
    ['of the key', 401, { error: { message: 'no access to parallel_tool_calls, stream_options' } }],
    [
      'of a prompt that is too long',
      400,
      { error: { message: 'too long for stream_options', code: 'context_length_exceeded' } },
    ],
    [
      'that repeats the request',
      422,
      {
        detail: [
          { loc: ['body', 'model'], msg: 'bad', input: { stream_options: {}, tool_choice: 1 } },
        ],
      },
    ],
  ])('%s is told, and nothing is left out', async (_, status, body) => {
    await using server = await ProviderServer.start(refusing(status, body));
    const { model } = modelAt(server.port, chat);
    const events = await collect(model.stream(full, never));
    expect(events.map(({ type }) => type)).toEqual(['started', 'failed']);
    expect(server.requests).toHaveLength(1);
  });

  test('that goes on whatever is left out is told in the end, and all is sent again with the next request', async () => {
    await using server = await ProviderServer.start(
      refusing(400, { error: { message: 'stream_options and tool_choice are bad' } }),
    );
    const { model } = modelAt(server.port, chat);
    for (let n = 0; n < 2; n++) {
      const events = await collect(model.stream({ ...request, tools: [tool] }, never));
      expect(events.map(({ type }) => type)).toEqual(['started', 'failed']);
    }
    const sent = server.requests.map(({ body }) => sentIn(body, 'chat'));
    const all = ['parallel_tool_calls', 'stream_options', 'tool_choice'];
    const once = [all, ['parallel_tool_calls', 'tool_choice'], ['parallel_tool_calls']];
    expect(sent).toEqual([...once, ...once]);
  });

  test.each<[string, Reply]>([
    [
      'in a stream',
      chatStream({ error: { message: 'stream_options is not supported', code: 400 } }),
    ],
    [
      'in an answer with success',
      refusing(200, { error: { message: 'stream_options is not supported' } }),
    ],
  ])('%s counts too', async (_, reply) => {
    await using server = await ProviderServer.start(reply, chatAnswered);
    const events = await collect(modelAt(server.port, chat).model.stream(request, never));
    expect(events.at(-1)).toMatchObject({ type: 'completed' });
    expect(server.requests.map(({ body }) => sentIn(body, 'chat'))).toEqual([
      ['stream_options'],
      [],
    ]);
  });

  test('that comes while the provider is overloaded is kept over the retries', async () => {
    const refusal = refusing(400, { error: { message: 'stream_options is not supported' } });
    await using server = await ProviderServer.start(refusal, refusing(503, ''), chatAnswered);
    const { model, clock } = modelAt(server.port, { ...chat, requestMaxRetries: 1 });
    const events = collect(model.stream(request, never));
    await clock.timerOf(200);
    clock.advance(200);
    expect((await events).at(-1)).toMatchObject({ type: 'completed' });
    expect(server.requests.map(({ body }) => sentIn(body, 'chat'))).toEqual([
      ['stream_options'],
      [],
      [],
    ]);
  });
});
