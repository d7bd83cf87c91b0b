import { expect, test } from 'vitest';
import { ollama } from '../../model/fake-ollama.ts';
import {
  completed,
  created,
  message,
  ProviderServer,
  refusing,
  streaming,
} from '../../model/provider-server.ts';
import { idOf } from '../../support/counting-ids.ts';
import { startServer } from '../../support/test-server.ts';

const usage = {
  input_tokens: 9_500,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: 9_505,
};
const long = streaming(created, ...message('an answer'), {
  ...completed,
  response: { id: 'resp_1', usage },
});

test.each([
  ['lists it', refusing(200, { data: [{ id: 'm', context_length: 10_000 }] }), 10_000],
  ['has no list', refusing(404), 258_400],
  [
    'lists nonsense',
    refusing(200, { data: [{ id: 'm', context_length: 'many' }, null, 5] }),
    258_400,
  ],
])(
  'the context window of an unknown model is asked for once the thread has grown, from a provider that %s',
  async (_how, list, window) => {
    const provider = await ProviderServer.start((res, req, body) =>
      (req.method === 'GET' ? list : long)(res, req, body),
    );
    const config = `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
    const server = await startServer({ config, model: null });
    await server.client.request('thread/start', {});
    for (const question of ['one', 'two', 'three']) await server.client.turn(idOf(1), question);
    expect(provider.requests.filter(({ url }) => url.includes('models'))).toHaveLength(1);
    const windows = server.client
      .notifications('thread/tokenUsage/updated')
      .map(({ tokenUsage }) => tokenUsage.modelContextWindow);
    expect(windows[0]).toBe(258_400);
    expect(windows.at(-1)).toBe(window);
    // 9,500 tokens are more than nine tenths of the listed window. After one compaction that does
    // not help, no further one is tried.
    const compactions = server.client.notifications('thread/compacted').length;
    expect(compactions).toBe(window === 10_000 ? 1 : 0);
    await provider[Symbol.asyncDispose]();
  },
);

test('a provider whose list is long, or does not come at first, is heard all the same', async () => {
  const entry = (id: string) => ({
    id,
    description: 'x'.repeat(10_000),
    context_length: id === 'm' ? 100_000 : 5,
  });
  const data = [...Array.from({ length: 300 }, (_, index) => entry(`other-${index}`)), entry('m')];
  let asked = 0;
  let tokens = 10_000;
  const provider = await ProviderServer.start((res, req, body) => {
    if (req.method === 'GET')
      return (asked++ === 0 ? refusing(503) : refusing(200, { data }))(res, req, body);
    const response = {
      id: 'resp_1',
      usage: { ...usage, input_tokens: tokens, total_tokens: tokens + 5 },
    };
    return streaming(created, ...message('an answer'), { ...completed, response })(res, req, body);
  });
  const config = `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
  const server = await startServer({ config, model: null });
  await server.client.request('thread/start', {});
  const window = async (question: string) => {
    await server.client.turn(idOf(1), question);
    return server.client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage
      .modelContextWindow;
  };
  await window('one');
  expect(await window('two')).toBe(258_400);
  tokens = 50_000;
  await window('three');
  expect(asked).toBe(1);
  // Until then, the failure counts.
  server.clock.advance(5_000);
  expect(await window('four')).toBe(100_000);
  await provider[Symbol.asyncDispose]();
});

const SHORT =
  'Ollama runs m with a context window of 8000 tokens, which is too short for most work. Start Ollama with OLLAMA_CONTEXT_LENGTH=16384 or more: it leaves out the beginning of longer prompts, and reports no error.';

test('Ollama is asked for the context with which it runs the model: a short one is a warning, once, and the last one known counts', async () => {
  const loaded = [{}, { 'm:latest': 8_000 }, { 'm:latest': 8_000 }, { 'm:latest': 32_768 }, {}];
  const given = loaded.values();
  const fake = ollama({
    models: ['m:latest'],
    promptTokens: 4_500,
    loaded: () => given.next().value ?? {},
  });
  await using provider = await ProviderServer.start(fake);
  const config = 'model = "m"\nmodel_provider = "ollama"\n';
  const server = await startServer({
    config,
    model: null,
    env: { OLLAMA_HOST: `http://127.0.0.1:${provider.port}` },
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'short, so nothing is asked');
  for (const _ of loaded) await server.client.turn(idOf(1), 'go on');
  expect(provider.requests.filter(({ url }) => url === '/api/ps')).toHaveLength(loaded.length);
  const windows = server.client
    .notifications('thread/tokenUsage/updated')
    .map(({ tokenUsage }) => tokenUsage.modelContextWindow);
  expect(windows).toEqual([258_400, 258_400, 258_400, 258_400, 32_768, 32_768]);
  expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([SHORT]);
});

test('Ollama has loaded the model with less than the prompt has', async () => {
  const fake = ollama({
    models: ['m:latest'],
    promptTokens: 4_096,
    loaded: () => ({ 'm:latest': 4_096 }),
  });
  await using provider = await ProviderServer.start(fake);
  const config = 'model = "m"\nmodel_provider = "ollama"\n';
  const server = await startServer({
    config,
    model: null,
    env: { OLLAMA_HOST: `http://127.0.0.1:${provider.port}` },
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'one');
  await server.client.turn(idOf(1), 'two');
  expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([
    SHORT.replace('8000', '4096'),
  ]);
  expect(server.client.notifications('thread/compacted')).toEqual([]);
});
