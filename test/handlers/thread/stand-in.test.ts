import { describe, expect, test } from 'vitest';
import type { ThreadStore } from '../../../src/store/thread-store.ts';
import { answered, ProviderServer } from '../../model/provider-server.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import { startServer } from '../../support/test-server.ts';

const CHATGPT = JSON.stringify({
  auth_mode: 'chatgpt',
  OPENAI_API_KEY: null,
  tokens: { access_token: 'secret-token' },
});
const KEY = JSON.stringify({ auth_mode: 'apikey', OPENAI_API_KEY: 'sk-stored-key-0123456789' });

describe('where the embedded model stands in for another one', () => {
  test('thread/start, resume and fork say so, in their fields and in a warning', async () => {
    const { client } = await startServer({ model: null, config: 'model = "gpt-5.5"\n' });
    const started = await client.request('thread/start', {});
    expect([started.model, started.modelProvider, started.thread.modelProvider]).toEqual([
      'embedded',
      'embedded',
      'embedded',
    ]);
    const { message, threadId } = await client.waitFor('warning');
    expect(threadId).toBe(started.thread.id);
    expect(message).toBe(
      'gpt-5.5 does not answer in this thread: there is no provider for it, because no API key was found. The embedded model answers in ' +
        'its place, offline. Set model_provider in config.toml, or OPENAI_API_KEY in the environment.',
    );
    await client.turn(started.thread.id, 'hello');
    const forked = await client.request('thread/fork', { threadId: started.thread.id });
    expect(forked.model).toBe('embedded');
    await client.waitFor('warning', (warning) => warning.threadId === forked.thread.id);
  });

  test('a model that a request names is not claimed either, by a thread or by a turn', async () => {
    const { client } = await startServer({ model: null, config: '' });
    const { model, thread } = await client.request('thread/start', { model: 'gpt-5.5' });
    expect(model).toBe('embedded');
    expect((await client.waitFor('warning')).message).toMatch(
      /^gpt-5\.5 does not answer in this thread/,
    );
    await client.turn(thread.id, 'hello', { model: 'gpt-6', effort: 'low' });
    const { threadSettings } = await client.waitFor('thread/settings/updated');
    expect(threadSettings).toMatchObject({
      model: 'embedded',
      effort: 'low',
      collaborationMode: { settings: { model: 'embedded' } },
    });
  });

  test('the provider may be chosen, and then the model is not', async () => {
    const { client } = await startServer({
      model: null,
      config: 'model = "gpt-5.5"\nmodel_provider = "embedded"\n',
    });
    expect(await client.request('thread/start', {})).toMatchObject({ model: 'embedded' });
    expect((await client.waitFor('warning')).message).toMatch(
      /: the provider embedded has no other model\..* Choose another provider/,
    );
  });

  test('without a model there is no warning', async () => {
    const { client } = await startServer({ model: null, config: '' });
    expect(await client.request('thread/start', {})).toMatchObject({ model: 'embedded' });
    await client.request('thread/loaded/list', {});
    expect(client.notifications('warning')).toEqual([]);
  });

  test('a ChatGPT login is named as the reason, without its tokens', async () => {
    const { client } = await startServer({
      model: null,
      config: 'model = "gpt-5.5"\n',
      files: { 'home/auth.json': CHATGPT },
    });
    const { model } = await client.request('thread/start', {});
    expect(model).toBe('embedded');
    const reason = 'auth.json in the home has a ChatGPT login, which heddle does not support.';
    expect((await client.waitFor('warning')).message).toContain(reason);
    await client.waitFor('configWarning', ({ details }) => details?.startsWith(reason) === true);
    expect(client.lines.filter((line) => line.includes('secret-token'))).toEqual([]);
  });
});

test('a key in auth.json chooses OpenAI, and is not shown to clients or commands', async () => {
  const { client } = await startServer({
    model: null,
    config: '',
    files: { 'home/auth.json': KEY },
    env: { COPY: 'sk-stored-key-0123456789' },
  });
  expect(await client.request('thread/start', {})).toMatchObject({
    model: 'gpt-5.5',
    modelProvider: 'openai',
  });
  expect(await client.request('account/read', {})).toMatchObject({ account: { type: 'apiKey' } });
  const { stdout } = await client.request('command/exec', {
    command: ['sh', '-c', 'env'],
    sandboxPolicy: { type: 'dangerFullAccess' },
  });
  expect(stdout).not.toContain('sk-stored-key');
  expect(client.lines.filter((line) => line.includes('sk-stored-key'))).toEqual([]);
});

test.each([
  [
    'not JSON',
    /auth\.json is not a JSON object, so the API key in it is not used: correct it or remove it\./,
  ],
  ['{"OPENAI_API_KEY": 5}', /auth\.json: OPENAI_API_KEY is not a string/],
])('an auth.json with %j is named as the reason', async (text, reason) => {
  const { client } = await startServer({
    model: null,
    config: 'model = "gpt-5.5"\n',
    files: { 'home/auth.json': text },
  });
  await client.request('thread/start', {});
  expect((await client.waitFor('warning')).message).toMatch(reason);
});

describe('a thread in which the embedded model answers because there is no key', () => {
  const openai = { model: 'gpt-5.5', modelProvider: 'openai' };
  const embedded = { model: 'embedded', modelProvider: 'embedded' };

  test('has the provider of the key from the login on, as long as no turn runs in it', async () => {
    await using provider = await ProviderServer.start(answered);
    const { client } = await startServer({
      model: null,
      config: '',
      env: { OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1` },
    });
    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'hello');
    await client.request('account/login/start', {
      type: 'apiKey',
      apiKey: 'sk-stored-key-0123456789',
    });
    const { threadSettings } = await client.waitFor('thread/settings/updated');
    expect(threadSettings).toMatchObject({
      ...openai,
      collaborationMode: { settings: { model: 'gpt-5.5' } },
    });
    await client.turn(thread.id, 'hello');
    expect(
      provider.requests
        .filter(({ url }) => url === '/v1/responses')
        .map(({ headers }) => headers.authorization),
    ).toEqual(['Bearer sk-stored-key-0123456789']);
  });

  test('does not hold up the login with the beginning of a turn', async () => {
    const gate = new Gate();
    let isSlow = false;
    const slow = (store: ThreadStore) =>
      gatedStore(store, () => (isSlow ? gate.pass() : undefined));
    const { client } = await startServer({ model: null, config: '', wrapStore: slow });
    const { thread } = await client.request('thread/start', {});
    isSlow = true;
    const begun = client.request('turn/start', { threadId: thread.id, input: text('hello') });
    await gate.reached;
    const login = await client.request('account/login/start', {
      type: 'apiKey',
      apiKey: 'sk-stored-key-0123456789',
    });
    expect(login).toEqual({ type: 'apiKey' });
    expect(await client.request('account/read', {})).toMatchObject({ account: { type: 'apiKey' } });
    gate.open();
    await client.turnCompleted((await begun).turn.id);
  });

  test.each([
    ['its start', { model: 'gpt-5-mini' }, {}],
    ['a turn', {}, { model: 'gpt-5-mini' }],
  ])('has the model that %s asked for, once a key is there', async (_, start, turn) => {
    const { client, restart } = await startServer({ model: null, config: 'model = "gpt-5.5"\n' });
    const { thread } = await client.request('thread/start', start);
    await client.turn(thread.id, 'hello', turn);
    const { client: later } = await restart({ model: null, config: 'model = "gpt-5.5"\n' });
    expect(await later.request('thread/resume', { threadId: thread.id })).toMatchObject({
      model: 'embedded',
    });
    await later.waitFor('warning', ({ message }) =>
      message.startsWith('gpt-5-mini does not answer in this thread'),
    );
    await later.request('account/login/start', {
      type: 'apiKey',
      apiKey: 'sk-stored-key-0123456789',
    });
    const { threadSettings } = await later.waitFor(
      'thread/settings/updated',
      (changed) => changed.threadSettings.model !== 'embedded',
    );
    expect(threadSettings).toMatchObject({
      modelProvider: 'openai',
      model: 'gpt-5-mini',
      collaborationMode: { settings: { model: 'gpt-5-mini' } },
    });
  });

  test('has the provider of a key that it finds when it is resumed or forked', async () => {
    const { client, restart } = await startServer({ model: null, config: '' });
    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'hello');
    const { client: later } = await restart({
      model: null,
      env: { OPENAI_API_KEY: 'sk-test-0123456789' },
    });
    expect(await later.request('thread/fork', { threadId: thread.id })).toMatchObject(openai);
    expect(
      await later.request('thread/resume', { threadId: thread.id, model: 'gpt-6' }),
    ).toMatchObject({ ...openai, model: 'gpt-6' });
    await later.request('thread/loaded/list', {});
    expect(later.notifications('warning')).toEqual([]);
  });

  test('keeps the embedded model if a request has chosen it, and the warning says how to choose another', async () => {
    const { client, restart } = await startServer({ model: null, config: '' });
    const { thread } = await client.request('thread/start', { modelProvider: 'embedded' });
    await client.turn(thread.id, 'hello');
    const { client: later } = await restart({
      model: null,
      env: { OPENAI_API_KEY: 'sk-test-0123456789' },
    });
    expect(
      await later.request('thread/resume', { threadId: thread.id, model: 'gpt-5.5' }),
    ).toMatchObject(embedded);
    expect((await later.waitFor('warning')).message).toBe(
      'gpt-5.5 does not answer in this thread: the provider embedded has no other model. The embedded model answers in its place, ' +
        'offline. Choose another provider with modelProvider of the request or, for new threads, with model_provider in config.toml.',
    );
    expect(
      await later.request('thread/fork', { threadId: thread.id, modelProvider: 'openai' }),
    ).toMatchObject({ modelProvider: 'openai' });
  });

  test('may have its older name, as threads, requests and configurations have it', async () => {
    const config = 'model_provider = "scripted"\nmodel = "scripted"\n';
    const { client, restart } = await startServer({ model: null, config });
    const { thread, ...started } = await client.request('thread/start', {});
    expect(started).toMatchObject(embedded);
    expect(
      await client.request('thread/start', { modelProvider: 'scripted', model: 'scripted' }),
    ).toMatchObject(embedded);
    await client.turn(thread.id, 'hello', { model: 'scripted' });
    const { client: later } = await restart({ model: null, config: '' });
    expect(
      await later.request('thread/resume', {
        threadId: thread.id,
        modelProvider: 'scripted',
        model: 'scripted',
      }),
    ).toMatchObject(embedded);
    const { data } = await later.request('thread/list', { modelProviders: ['scripted'] });
    expect(data.map(({ id }) => id)).toEqual([thread.id]);
    for (const one of [client, later]) expect(one.notifications('warning')).toEqual([]);
  });
});
