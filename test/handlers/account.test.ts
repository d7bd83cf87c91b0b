import { expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

test('account/read: no account and none needed with the test’s provider', async () => {
  const { client } = await startServer();
  expect(await client.request('account/read', {})).toEqual({ account: null, userId: null, requiresOpenaiAuth: false });
});

test('account/read: an openai without its key needs one, with it has an account', async () => {
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

test('account/read: a server that was given a model needs none, whatever provider is named', async () => {
  const { client } = await startServer({ config: 'model_provider = "openai"\n', env: { OPENAI_API_KEY: 'sk-test' } });
  expect(await client.request('account/read', {})).toEqual({ account: null, userId: null, requiresOpenaiAuth: false });
});
