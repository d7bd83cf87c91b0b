import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NO_LOGIN } from '../../src/config/login/stored-login.ts';
import type { LocalServer } from '../../src/config/providers/provider-config.ts';
import type { InstalledModels } from '../../src/model/http/installed-models.ts';
import type { ModelRequest } from '../../src/model/model.ts';
import { providerModels } from '../../src/model/providers/provider-models.ts';
import type { TurnError } from '../../src/protocol/generated/types.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failed, httpFailed } from '../support/test-model.ts';
import { lmStudio } from './fake-lmstudio.ts';
import { ollama } from './fake-ollama.ts';
import {
  collect,
  modelAt,
  never,
  ProviderServer,
  providerAt,
  quietLog,
  type Reply,
  refusing,
  request,
} from './provider-server.ts';

const NAMES = { ollama: 'Ollama', lmstudio: 'LM Studio' };
const PLAN = {
  type: 'function' as const,
  name: 'plan',
  description: 'Plans.',
  parameters: { type: 'object' },
};

/** Returns the answer of a provider of this name to a request, with its address as URL. */
async function answerOf(
  localServer: LocalServer,
  reply: Reply,
  changes: Partial<ModelRequest> & { base?: string } = {},
) {
  await using server = await ProviderServer.start(reply);
  const { base = '/v1', ...asked } = changes;
  const baseUrl = `http://127.0.0.1:${server.port}${base}`;
  const { model } = modelAt(server.port, {
    id: localServer,
    name: NAMES[localServer],
    wireApi: 'chat',
    localServer,
    baseUrl,
  });
  const events = await collect(model.stream({ ...request, ...asked }, never));
  return JSON.parse(JSON.stringify(events).replaceAll(`${baseUrl}/chat/completions`, 'URL'));
}

const completed = (inputTokens: number, outputTokens: number) => ({
  type: 'completed',
  usage: {
    ...{
      inputTokens,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens,
      reasoningOutputTokens: 0,
    },
    totalTokens: inputTokens + outputTokens,
  },
});
const started = [
  { type: 'started' },
  { type: 'itemStarted', item: { type: 'reasoning', id: 'rs_0', summary: [] } },
  { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: 'hm' },
  {
    type: 'itemCompleted',
    item: {
      type: 'reasoning',
      id: 'rs_0',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
    },
  },
  { type: 'itemStarted', item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] } },
  { type: 'textDelta', itemId: 'msg_1', delta: 'Let me' },
  { type: 'textDelta', itemId: 'msg_1', delta: ' plan.' },
  {
    type: 'itemCompleted',
    item: {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Let me plan.' }],
    },
  },
];
const call = (call_id: string, args: string) => ({
  type: 'itemCompleted',
  item: { type: 'function_call', call_id, name: 'plan', arguments: args },
});
const callDelta = (callId: string, delta: string) => ({
  type: 'callDelta',
  callId,
  name: 'plan',
  custom: false,
  delta,
});

describe('Ollama', () => {
  test('thinks, speaks and calls', async () => {
    const calls = [
      { name: 'plan', args: { n: 1 } },
      { name: 'plan', args: { n: 2 } },
    ];
    const reply = ollama({ answers: [{ thinking: ['hm'], text: ['Let me', ' plan.'], calls }] });
    expect(
      await answerOf('ollama', reply, { model: 'llama3.2', tools: [PLAN], effort: 'low' }),
    ).toEqual([
      ...started.slice(0, -1),
      callDelta('call_hk81qg02', '{"n":1}'),
      callDelta('call_hk81qg12', '{"n":2}'),
      ...started.slice(-1),
      call('call_hk81qg02', '{"n":1}'),
      call('call_hk81qg12', '{"n":2}'),
      completed(26, 5),
    ]);
  });

  test('takes a whole conversation back', async () => {
    const picture = { type: 'input_image' as const, image_url: 'data:image/png;base64,AAAA' };
    const input: ModelRequest['input'] = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }, picture] },
      { type: 'function_call', call_id: 'a', name: 'plan', arguments: 'garbage' },
      { type: 'function_call_output', call_id: 'a', output: [picture] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
    ];
    expect((await answerOf('ollama', ollama(), { model: 'llama3.2', input })).at(-1)).toEqual(
      completed(26, 1),
    );
  });

  test.each<
    [string, Reply, Partial<ModelRequest> & { base?: string }, string, TurnError['codexErrorInfo']]
  >([
    [
      'a model that it does not have',
      ollama(),
      { model: 'qwen3' },
      'Ollama (URL) answered HTTP 404. model "qwen3" not found, try pulling it first. Get it with "ollama pull qwen3", or choose a model that "ollama list" shows.',
      httpFailed(404),
    ],
    [
      'a model that it does not have, in the words of later versions',
      refusing(404, {
        error: { message: "model 'm' not found", type: 'not_found_error', param: null, code: null },
      }),
      {},
      'Ollama (URL) answered HTTP 404. model \'m\' not found. Get it with "ollama pull m", or choose a model that "ollama list" shows.',
      httpFailed(404),
    ],
    [
      'a model that knows no tools',
      ollama({ models: ['gemma3:4b'], withoutTools: ['gemma3:4b'] }),
      { model: 'gemma3:4b', tools: [PLAN] },
      'Ollama (URL) answered HTTP 400. registry.ollama.ai/library/gemma3:4b does not support tools. Choose a model that can call tools: every turn offers tools.',
      'other',
    ],
    [
      'an effort that it does not know',
      ollama(),
      { model: 'llama3.2', effort: 'xhigh' },
      `Ollama (URL) answered HTTP 400. invalid reasoning value: 'xhigh' (must be "high", "medium", "low", or "none").`,
      'other',
    ],
    [
      'a wrong path',
      ollama(),
      { base: '' },
      'Ollama (URL) answered HTTP 404. 404 page not found. Check base_url of the provider, and that the provider has this model.',
      httpFailed(404),
    ],
    [
      'a runner that dies',
      ollama({ answers: [{ text: ['a', 'b'], cutAfter: 1 }] }),
      { model: 'llama3.2' },
      'Ollama (URL) ended its stream before the response was complete. Only a part of the answer came.',
      'other',
    ],
    [
      'a full context',
      ollama({ answers: [{ text: ['a'], doneReason: 'length' }] }),
      { model: 'llama3.2' },
      'Ollama (URL) left its response incomplete: the token limit of the model or the server was reached.',
      'other',
    ],
  ])('%s', async (_, reply, changes, ...error) => {
    expect((await answerOf('ollama', reply, changes)).at(-1)).toEqual(failed(...error));
  });
});

test('a model that does not think is asked without an effort, in every request after the first', async () => {
  await using server = await ProviderServer.start(ollama({ withoutThinking: ['llama3.2:latest'] }));
  const { model } = modelAt(server.port, { wireApi: 'chat', localServer: 'ollama' });
  for (let n = 0; n < 2; n++) {
    const events = await collect(
      model.stream({ ...request, model: 'llama3.2', effort: 'medium' }, never),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'started',
      'leftOut',
      'itemStarted',
      'textDelta',
      'itemCompleted',
      'completed',
    ]);
  }
  expect(
    server.requests.map(({ body }) => (body as { reasoning_effort?: string }).reasoning_effort),
  ).toEqual(['medium', undefined, undefined]);
});

test('a model that refuses settings of reasoning that were not sent is not asked for ever', async () => {
  await using server = await ProviderServer.start(
    refusing(400, { error: 'it does not support thinking' }),
  );
  const { model } = modelAt(server.port, { wireApi: 'chat', requestMaxRetries: 3 });
  for (const effort of ['low', null]) {
    const events = await collect(model.stream({ ...request, effort }, never));
    expect(events.at(-1)).toMatchObject({ type: 'failed', error: { codexErrorInfo: 'other' } });
  }
  expect(server.requests).toHaveLength(3);
});

describe('LM Studio', () => {
  const asked = { model: 'qwen3-8b', tools: [PLAN] };
  test('thinks, speaks and calls', async () => {
    const calls = [
      { name: 'plan', args: ['{"n"', ':1}'] },
      { name: 'plan', args: ['{}'] },
    ];
    expect(
      await answerOf(
        'lmstudio',
        lmStudio({ answers: [{ reasoning: ['hm'], text: ['Let me', ' plan.'], calls }] }),
        asked,
      ),
    ).toEqual([
      ...started.slice(0, -1),
      callDelta('371259800', '{"n"'),
      callDelta('371259800', ':1}'),
      callDelta('371259801', '{}'),
      ...started.slice(-1),
      call('371259800', '{"n":1}'),
      call('371259801', '{}'),
      completed(18, 8),
    ]);
  });

  test('takes a whole conversation back, also with models whose template wants roles to alternate', async () => {
    const says = (role: string): ModelRequest['input'][number] => ({
      type: 'message',
      role,
      content: [{ type: 'input_text', text: role }],
    });
    const input = ['developer', 'user', 'user', 'assistant', 'developer', 'user'].map(says);
    expect((await answerOf('lmstudio', lmStudio(), { ...asked, input })).at(-1)).toEqual(
      completed(18, 1),
    );
  });

  test.each<
    [string, Reply, Partial<ModelRequest> & { base?: string }, string, TurnError['codexErrorInfo']]
  >([
    [
      'a model that it does not have',
      lmStudio(),
      { model: 'qwen4' },
      'LM Studio (URL) answered HTTP 400. Invalid model identifier "qwen4". Please specify a valid downloaded model (e.g., qwen3-8b). Download it in LM Studio or with "lms get qwen4", or choose a model that "lms ls" shows.',
      'other',
    ],
    [
      'no model loaded',
      lmStudio({ noneLoaded: true }),
      asked,
      'LM Studio (URL) answered HTTP 404. No models loaded. Please load a model in the developer page or use the `lms load` command. Load the model in LM Studio or with "lms load qwen3-8b", or turn on just-in-time loading.',
      httpFailed(404),
    ],
    [
      'a wrong path, which it answers with success',
      lmStudio(),
      { ...asked, base: '' },
      'LM Studio (URL) answered with an error: Unexpected endpoint or method. (POST /chat/completions). Check base_url of the provider.',
      'other',
    ],
    [
      'a model that crashes',
      lmStudio({
        answers: [{ text: ['a'], error: 'The model has crashed without additional information.' }],
      }),
      asked,
      'LM Studio (URL) could not answer: The model has crashed without additional information.',
      'other',
    ],
  ])('%s', async (_, reply, changes, ...error) => {
    expect((await answerOf('lmstudio', reply, changes)).at(-1)).toEqual(failed(...error));
  });
});

test.each<[LocalServer, string]>([
  [
    'ollama',
    'Start Ollama: open its app, or run "ollama serve". If it listens on another address, set OLLAMA_HOST or base_url.',
  ],
  [
    'lmstudio',
    'Start the LM Studio server in its Developer tab, or run "lms server start". If it listens on another address, set base_url.',
  ],
])('%s that does not run is told how to start', async (localServer, advice) => {
  const server = await ProviderServer.start(refusing(500));
  const { port } = server;
  await server[Symbol.asyncDispose]();
  const { model } = modelAt(port, { name: 'N', wireApi: 'chat', localServer });
  const text = `N (http://127.0.0.1:${port}/v1/chat/completions) cannot be reached: the connection was refused. ${advice}`;
  expect((await collect(model.stream(request, never))).at(-1)).toEqual(
    failed(text, httpFailed(null)),
  );
});

describe('the models that are installed', () => {
  const listings = (clock: FakeClock) =>
    providerModels(null, {
      env: {},
      clock,
      userAgent: 'test/1',
      log: quietLog,
      storedLogin: () => NO_LOGIN,
      onRateLimits() {},
      scalePicture: async () => null,
    }).listings;
  async function listed(reply: Reply) {
    await using server = await ProviderServer.start(reply);
    const listing = await listings(new FakeClock()).installedModels(providerAt(server.port));
    return JSON.parse(
      JSON.stringify(listing).replace(`http://127.0.0.1:${server.port}/v1/models`, 'URL'),
    );
  }
  const noList = {
    problem: 'P (URL) did not answer with a list of models. Check base_url of the provider.',
  };
  test.each<[string, Reply, InstalledModels]>([
    [
      'of Ollama',
      ollama({ models: ['llama3.2:latest', 'nomic-embed-text:latest', 'qwen3:8b'] }),
      ['llama3.2:latest', 'qwen3:8b'],
    ],
    [
      'of LM Studio',
      lmStudio({ models: ['qwen3-8b', 'text-embedding-nomic-embed-text-v1.5'] }),
      ['qwen3-8b'],
    ],
    ['are none', ollama({ models: [] }), []],
    [
      'are not told by a server that fails',
      refusing(500, { error: 'no' }),
      { problem: 'P (URL) answered HTTP 500. no.' },
    ],
    [
      'are not told on a wrong path',
      refusing(200, { error: 'Unexpected endpoint or method. (GET /models)' }),
      {
        problem:
          'P (URL) answered with an error: Unexpected endpoint or method. (GET /models). Check base_url of the provider.',
      },
    ],
    ['are not told in a form that is known', refusing(200, '[]'), noList],
    [
      'are told once each, whatever else the list holds',
      refusing(200, { data: [{ id: 'a' }, 7, { id: '' }, { id: 'a' }, null] }),
      ['a'],
    ],
    [
      'are not told by a list without an end',
      (res) => res.writeHead(200).end(`{"data":[${' '.repeat(17 * 1024 * 1024)}]}`),
      noList,
    ],
  ])('%s', async (_, reply, models) => {
    expect(await listed(reply)).toEqual(models);
  });

  test('are not waited for longer than a second', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const clock = new FakeClock();
    const lists = listings(clock);
    const models = lists.installedModels(providerAt(port));
    await clock.timerOf(5_000);
    clock.advance(1_000);
    const problem = `P (http://127.0.0.1:${port}/v1/models) did not answer within 1 s. Check that the server is running and that base_url is correct.`;
    expect(await models).toEqual({ problem });
    clock.advance(5_000);
    expect(await lists.listedWindows(providerAt(port))).toEqual(new Map());
    expect(clock.timers).toEqual([]);
  });

  test('are told to the next client if they come too late for one', async () => {
    const asked: (() => void)[] = [];
    const reply: Reply = (res, req, body) =>
      req.url === '/v1/models'
        ? void asked.push(() => ollama({ models: [`m${asked.length}`] })(res, req, body))
        : ollama()(res, req, body);
    await using server = await ProviderServer.start(reply);
    const provider = providerAt(server.port, { localServer: 'ollama' });
    const clock = new FakeClock();
    const lists = listings(clock);
    const tooLate = async () => {
      const models = lists.installedModels(provider);
      await expect.poll(() => asked.length > 0 && clock.timers.length > 1).toBe(true);
      clock.advance(1_000);
      expect(await models).toMatchObject({
        problem: expect.stringContaining('did not answer within 1 s'),
      });
    };
    await tooLate();
    await tooLate();
    expect(asked.length).toBe(1);
    asked[0]?.();
    expect((await lists.listedWindows(provider)).size).toBe(0);
    expect(await lists.installedModels(provider)).toEqual(['m1']);
    const fresh = lists.installedModels(provider);
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.();
    expect(await fresh).toEqual(['m2']);
  });

  test('are not told where nobody listens', async () => {
    const server = await ProviderServer.start(refusing(500));
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const problem = `P (http://127.0.0.1:${port}/v1/models) cannot be reached: the connection was refused. Check that the server is running and that base_url is correct.`;
    expect(await listings(new FakeClock()).installedModels(providerAt(port))).toEqual({ problem });
  });
});
