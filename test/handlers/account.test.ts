import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('account/read: with the provider of the test, there is no account and none is needed', async () => {
  const { client } = await startServer();
  expect(await client.request('account/read', {})).toEqual({ account: null, userId: null, requiresOpenaiAuth: false });
});

test('account/read: openai needs an account, and has one if its key is set', async () => {
  const config = 'model_provider = "openai"\n';
  const without = await startServer({ config, model: null });
  expect(await without.client.request('account/read', { refreshToken: false })).toEqual({
    account: null,
    userId: null,
    requiresOpenaiAuth: true,
  });
  const having = await startServer({ config, env: { OPENAI_API_KEY: 'sk-test' }, model: null });
  expect(await having.client.request('account/read', {})).toEqual({ account: { type: 'apiKey' }, userId: null, requiresOpenaiAuth: true });
});

test('account/read: a server with a given model needs no account, whatever the provider', async () => {
  const { client } = await startServer({ config: 'model_provider = "openai"\n', env: { OPENAI_API_KEY: 'sk-test' } });
  expect(await client.request('account/read', {})).toEqual({ account: null, userId: null, requiresOpenaiAuth: false });
});
