import { describe, expect, test } from 'vitest';
import { lmStudio } from '../model/fake-lmstudio.ts';
import { ollama } from '../model/fake-ollama.ts';
import { ProviderServer, type Reply, refusing } from '../model/provider-server.ts';
import { idOf } from '../support/counting-ids.ts';
import { startServer } from '../support/test-server.ts';

test('model/list returns the configured model as the default, with efforts that clients know', async () => {
  const { client } = await startServer();
  const { data, nextCursor } = await client.request('model/list', {});
  expect(nextCursor).toBe(null);
  expect(
    data.map(({ id, model, isDefault, hidden, defaultReasoningEffort }) => ({
      id,
      model,
      isDefault,
      hidden,
      defaultReasoningEffort,
    })),
  ).toEqual([
    {
      id: 'test-model',
      model: 'test-model',
      isDefault: true,
      hidden: false,
      defaultReasoningEffort: 'medium',
    },
  ]);
  const known = ['minimal', 'low', 'medium', 'high', 'xhigh'];
  expect(
    data
      .flatMap((model) =>
        model.supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort),
      )
      .filter((effort) => !known.includes(effort)),
  ).toEqual([]);
});

test.each([
  ['', 'Works offline and follows requests in the message: see docs/embedded-model.md'],
  [
    'model_provider = "s"\n[model_providers.s]\nscript = "/a.yaml"\n',
    'Answers from a script: see docs/scripted-model.md',
  ],
])('model/list describes a model without a provider: %j', async (config, description) => {
  const { client } = await startServer({ config, model: null });
  const { data } = await client.request('model/list', {});
  expect(data.map((model) => [model.id, model.description])).toEqual([
    [config === '' ? 'embedded' : 'scripted', description],
  ]);
});

test('model/list has the models that a provider on another machine lists; asks it once in some minutes, and soon again after a failure', async () => {
  let asked = 0;
  const list = {
    data: ['m', 'n-large', 'text-embedding-3', 'whisper-1', 'gpt-image-1', 'n-large'].map((id) => ({
      id,
    })),
  };
  const reply: Reply = (res) => {
    asked++;
    res
      .writeHead(asked === 1 ? 500 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(asked === 1 ? {} : list));
  };
  await using provider = await ProviderServer.start(reply);
  const config = `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\n`;
  const { client, clock } = await startServer({ config, model: null });
  const ids = async () =>
    (await client.request('model/list', {})).data.map(({ id, isDefault }) => [id, isDefault]);
  expect(await ids()).toEqual([['m', true]]);
  clock.advance(5_000);
  const all = [
    ['m', true],
    ['n-large', false],
  ];
  expect(await ids()).toEqual(all);
  expect(await ids()).toEqual(all);
  expect(asked).toBe(2);
  clock.advance(5 * 60_000);
  expect(await ids()).toEqual(all);
  expect(asked).toBe(3);
});

test('model/list has the models of the key that is used now', async () => {
  const models = new Map([
    ['Bearer sk-one-0123456789', 'one'],
    ['Bearer sk-two-0123456789', 'two'],
  ]);
  const reply: Reply = (res, req) => {
    const id = models.get(req.headers.authorization ?? '');
    return (id === undefined ? refusing(401) : refusing(200, { data: [{ id }] }))(res, req);
  };
  await using provider = await ProviderServer.start(reply);
  const config = `model_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nrequires_openai_auth = true\n`;
  const { client } = await startServer({ config, model: null });
  const ids = async () =>
    (await client.request('model/list', {})).data.map(({ id, isDefault }) => [id, isDefault]);
  expect(await ids()).toEqual([]);
  for (const name of ['one', 'two']) {
    await client.request('account/login/start', {
      type: 'apiKey',
      apiKey: `sk-${name}-0123456789`,
    });
    expect(await ids()).toEqual([[name, false]]);
  }
  await client.request('account/logout', undefined);
  expect(await ids()).toEqual([]);
});

test('model/list has pages, lists the models of a named provider, and refuses invalid params', async () => {
  await using provider = await ProviderServer.start(ollama({ models: ['a:1', 'b:1', 'c:1'] }));
  const { client } = await startServer({
    model: null,
    overrides: [`model_providers.ollama.base_url="http://127.0.0.1:${provider.port}/v1"`],
  });
  const ids = async (params: object) => {
    const { data, nextCursor } = await client.request('model/list', {
      modelProvider: 'ollama',
      ...params,
    });
    return { ids: data.map(({ id }) => id), nextCursor };
  };
  expect([
    await ids({ limit: 3 }),
    await ids({ limit: 3, cursor: '3' }),
    await ids({ cursor: '1' }),
  ]).toEqual([
    { ids: ['test-model', 'a:1', 'b:1'], nextCursor: '3' },
    { ids: ['c:1'], nextCursor: null },
    { ids: ['a:1', 'b:1', 'c:1'], nextCursor: null },
  ]);
  for (const cursor of ['zz', '', '-1', '5', '9'.repeat(30)]) {
    expect(await client.refusal('model/list', { modelProvider: 'ollama', cursor })).toEqual({
      code: -32600,
      message: `invalid cursor: ${cursor}`,
      data: { code: 'invalid_cursor' },
    });
  }
  for (const modelProvider of ['nope', '']) {
    expect(await client.refusal('model/list', { modelProvider })).toEqual({
      code: -32600,
      message: `unknown model provider: ${modelProvider}, which is not configured`,
      data: { code: 'model_provider_not_found', type: 'modelProviderNotConfigured', modelProvider },
    });
  }
});

test('model/list has the embedded model under each of its names', async () => {
  const { client } = await startServer({ model: null });
  for (const modelProvider of ['embedded', 'scripted']) {
    expect((await client.request('model/list', { modelProvider })).data).toMatchObject([
      { id: 'embedded' },
    ]);
  }
});

test('model/list works with an invalid key, which counts as not set', async () => {
  const effort = await startServer({ overrides: ['model_reasoning_effort=5'] });
  expect((await effort.client.request('model/list', {})).data).toMatchObject([
    { id: 'test-model', defaultReasoningEffort: 'medium' },
  ]);
  const profile = await startServer({ overrides: ['profile="nope"'] });
  expect(await profile.client.request('model/list', {})).toEqual({ data: [], nextCursor: null });
});

describe('a provider on this machine', () => {
  /**
   * A client of a server that was started for a model of this provider, which answers like this.
   */
  async function local(id: string, reply: Reply, model: string[] = []) {
    const provider = await ProviderServer.start(reply);
    const overrides = [
      `model_provider=${id}`,
      `model_providers.${id}.base_url="http://127.0.0.1:${provider.port}/v1"`,
      ...model,
    ];
    const server = await startServer({ config: '', overrides, model: null });
    return { ...server, provider, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
  }
  const models = ['llama3.2:latest', 'qwen3:8b', 'nomic-embed-text:latest'];

  test('lists the configured model first, then the other installed ones', async () => {
    await using server = await local('ollama', ollama({ models }), ['model="llama3.2"']);
    const { data } = await server.client.request('model/list', {});
    expect(
      data.map(({ id, model, isDefault, description }) => ({ id, model, isDefault, description })),
    ).toEqual([
      { id: 'llama3.2', model: 'llama3.2', isDefault: true, description: 'Answers through Ollama' },
      {
        id: 'qwen3:8b',
        model: 'qwen3:8b',
        isDefault: false,
        description: 'Answers through Ollama',
      },
    ]);
  });

  test('lists the installed models if none is configured, and each can be used', async () => {
    await using server = await local('lmstudio', lmStudio({ models: ['qwen3-8b', 'gpt-oss-20b'] }));
    const { data } = await server.client.request('model/list', {});
    expect(data.map(({ model, isDefault }) => [model, isDefault])).toEqual([
      ['qwen3-8b', false],
      ['gpt-oss-20b', false],
    ]);
    const efforts = data.map(({ supportedReasoningEfforts }) =>
      supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort),
    );
    expect(efforts).toEqual([
      ['low', 'medium', 'high'],
      ['low', 'medium', 'high'],
    ]);
    for (const { model } of data) {
      const { thread } = await server.client.request('thread/start', { model });
      expect(await server.client.turn(thread.id, 'hi')).toMatchObject({ status: 'completed' });
    }
  });

  test('lists only the configured model if the provider does not respond', async () => {
    await using server = await local('ollama', refusing(500), ['model="llama3.2"']);
    const { data } = await server.client.request('model/list', {});
    expect(data.map(({ model, isDefault }) => [model, isDefault])).toEqual([['llama3.2', true]]);
  });

  const refused = (problem: string) => ({
    code: -32600,
    message: `invalid config: no model is set for the provider ${problem}`,
    data: { code: 'config_invalid' },
  });

  test.each<[string, string, Reply, string]>([
    [
      'names what is installed',
      'ollama',
      ollama({ models }),
      'ollama: set model in config.toml to one that is installed: llama3.2:latest, qwen3:8b',
    ],
    [
      'says how to get a first one',
      'ollama',
      ollama({ models: [] }),
      'ollama: none is installed; get one with "ollama pull NAME"',
    ],
    [
      'says how to get a first one',
      'lmstudio',
      lmStudio({ models: [] }),
      'lmstudio: none is installed; download one in LM Studio or with "lms get NAME"',
    ],
  ])('without a model %s: %s', async (_, id, reply, problem) => {
    await using server = await local(id, reply);
    expect(await server.client.refusal('thread/start', {})).toEqual(refused(problem));
  });

  /**
   * The error for a thread without a model, if the provider's server is at this address, which is
   * shown as a URL.
   */
  async function refusalWithoutModel(port: number): Promise<unknown> {
    const baseUrl = `http://someuser:hunter22@127.0.0.1:${port}/v1?key=in-query-1`;
    const overrides = ['model_provider=ollama', `model_providers.ollama.base_url="${baseUrl}"`];
    const { client } = await startServer({ config: '', overrides, model: null });
    const refusal = JSON.stringify(await client.refusal('thread/start', {}));
    return JSON.parse(refusal.replace(`http://127.0.0.1:${port}/v1/models`, 'URL'));
  }

  test('without a model and without a response, says how to start the provider, and shows no secrets of its URL', async () => {
    const provider = await ProviderServer.start(refusing(500));
    const { port } = provider;
    await provider[Symbol.asyncDispose]();
    const start =
      'Start Ollama: open its app, or run "ollama serve". If it listens on another address, set OLLAMA_HOST or base_url.';
    expect(await refusalWithoutModel(port)).toEqual(
      refused(
        `ollama: set model in config.toml. Ollama (URL) cannot be reached: the connection was refused. ${start}`,
      ),
    );
  });

  test.each<[string, Reply, string]>([
    [
      'a refused key',
      refusing(401, { error: 'unauthorized' }),
      'answered HTTP 401. unauthorized. Check the key in base_url of the provider.',
    ],
    ['a fault', refusing(500, { error: 'broken' }), 'answered HTTP 500. broken.'],
    [
      'an error with success',
      refusing(200, { error: 'Unexpected endpoint' }),
      'answered with an error: Unexpected endpoint. Check base_url of the provider.',
    ],
    [
      'something else',
      refusing(200, '<p>'),
      'did not answer with a list of models. Check base_url of the provider.',
    ],
  ])(
    'without a model, and with a response that lists none, quotes the response: %s',
    async (_, reply, said) => {
      await using provider = await ProviderServer.start(reply);
      expect(await refusalWithoutModel(provider.port)).toEqual(
        refused(`ollama: set model in config.toml. Ollama (URL) ${said}`),
      );
    },
  );

  test('answers a turn of a thread that names it', async () => {
    const provider = await ProviderServer.start(ollama());
    const server = await startServer({
      config: '',
      overrides: ['model_provider=ollama', 'model="llama3.2"'],
      env: { OLLAMA_HOST: `127.0.0.1:${provider.port}` },
      model: null,
    });
    const { modelProvider, model } = await server.client.request('thread/start', {});
    expect([modelProvider, model]).toEqual(['ollama', 'llama3.2']);
    expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
      status: 'completed',
      items: [{ type: 'agentMessage', text: 'ok' }],
    });
    await provider[Symbol.asyncDispose]();
  });
});
