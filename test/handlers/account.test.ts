import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answered, ProviderServer, type Reply } from '../model/provider-server.ts';
import { startServer } from '../support/test-server.ts';

test('account/read: with the provider of the test, there is no account and none is needed', async () => {
  const { client } = await startServer();
  expect(await client.request('account/read', {})).toEqual({
    account: null,
    userId: null,
    requiresOpenaiAuth: false,
    workspaceRouting: null,
  });
});

test('account/read: openai needs an account, and has one if its key is set', async () => {
  const config = 'model_provider = "openai"\n';
  const without = await startServer({ config, model: null });
  expect(await without.client.request('account/read', { refreshToken: false })).toEqual({
    account: null,
    userId: null,
    requiresOpenaiAuth: true,
    workspaceRouting: null,
  });
  const having = await startServer({ config, env: { OPENAI_API_KEY: 'sk-test' }, model: null });
  expect(await having.client.request('account/read', {})).toEqual({
    account: { type: 'apiKey' },
    userId: null,
    requiresOpenaiAuth: true,
    workspaceRouting: null,
  });
});

test('account/read: a server with a given model needs no account, whatever the provider', async () => {
  const { client } = await startServer({
    config: 'model_provider = "openai"\n',
    env: { OPENAI_API_KEY: 'sk-test' },
  });
  expect(await client.request('account/read', {})).toEqual({
    account: null,
    userId: null,
    requiresOpenaiAuth: false,
    workspaceRouting: null,
  });
});

/** A provider that takes the login. */
const providerAt = (port: number) => `model = "m"
model_provider = "p"
[model_providers.p]
base_url = "http://127.0.0.1:${port}/v1"
requires_openai_auth = true
`;

async function loginServer(port = 9) {
  const server = await startServer({ config: providerAt(port), model: null });
  const file = join(server.home, 'auth.json');
  return {
    ...server,
    file,
    stored: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>,
  };
}

const KEY = 'sk-test-0123456789';

describe('a login with an API key', () => {
  test('account/login/start stores it for the user alone; account/logout removes it', async () => {
    const { client, file, stored } = await loginServer();
    expect(
      await client.request('account/login/start', { type: 'apiKey', apiKey: ` ${KEY}\n` }),
    ).toEqual({ type: 'apiKey' });
    expect(await client.waitFor('account/login/completed')).toEqual({
      loginId: null,
      success: true,
      error: null,
      onboardingEntrypoint: null,
    });
    expect(await client.waitFor('account/updated')).toEqual({ authMode: 'apikey', planType: null });
    expect(stored()).toEqual({ auth_mode: 'apikey', OPENAI_API_KEY: KEY });
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(await client.request('account/read', {})).toMatchObject({
      account: { type: 'apiKey' },
      requiresOpenaiAuth: true,
    });

    expect(await client.request('account/logout', undefined)).toEqual({});
    expect(await client.waitFor('account/updated', ({ authMode }) => authMode === null)).toEqual({
      authMode: null,
      planType: null,
    });
    expect(existsSync(file)).toBe(false);
    expect(await client.request('account/read', {})).toMatchObject({
      account: null,
      requiresOpenaiAuth: true,
    });
    expect(await client.request('account/logout', undefined)).toEqual({});
  });

  test('keeps what other programs have in the file', async () => {
    const { client, file, stored } = await loginServer();
    writeFileSync(
      file,
      JSON.stringify({ tokens: { access_token: 'x' }, last_refresh: 'y', auth_mode: 'chatgpt' }),
      { mode: 0o644 },
    );
    await client.request('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect(stored()).toEqual({
      tokens: { access_token: 'x' },
      last_refresh: 'y',
      auth_mode: 'chatgpt',
      OPENAI_API_KEY: KEY,
    });
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    await client.request('account/logout', undefined);
    expect(stored()).toEqual({
      tokens: { access_token: 'x' },
      last_refresh: 'y',
      auth_mode: 'chatgpt',
    });
  });

  test('account/logout removes the key behind a link', async () => {
    const { client, file, folder, stored } = await loginServer();
    const real = join(folder, 'auth-elsewhere.json');
    symlinkSync(real, file);
    for (let logins = 0; logins < 2; logins++) {
      await client.request('account/login/start', { type: 'apiKey', apiKey: KEY });
      expect(stored()).toMatchObject({ OPENAI_API_KEY: KEY });
      await client.request('account/logout', undefined);
      expect(existsSync(real)).toBe(false);
      expect(lstatSync(file).isSymbolicLink()).toBe(true);
    }
  });

  test('leaves other programs their login with tokens, also if the file does not say that they use it', async () => {
    const { client, file, stored } = await loginServer();
    writeFileSync(file, JSON.stringify({ OPENAI_API_KEY: null, tokens: { access_token: 'x' } }));
    await client.request('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect(stored()).toEqual({
      OPENAI_API_KEY: KEY,
      tokens: { access_token: 'x' },
      auth_mode: 'chatgpt',
    });
  });

  test('account/logout does not touch a file without a key', async () => {
    const { client, file } = await loginServer();
    const text = '{"OPENAI_API_KEY":null,"tokens":{"access_token":"x"}}';
    writeFileSync(file, text);
    await client.request('account/logout', undefined);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('names a file that cannot be used', async () => {
    const { client, file } = await loginServer();
    mkdirSync(file);
    const error = await client.refusal('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect(error).toMatchObject({
      data: { code: 'login_file_unusable' },
      message: expect.stringContaining(`${file} cannot be used: `),
    });
    expect(error.message).toContain('set the key in the environment instead');
    const { message } = await client.refusal('account/logout', undefined);
    expect(message).toContain('remove the key from the file by hand');
    expect(message).not.toContain('environment');
  });

  test('does not touch a file that is not that of a login', async () => {
    const { client, file } = await loginServer();
    writeFileSync(file, 'not JSON');
    for (const method of ['account/login/start', 'account/logout']) {
      const error = await client.refusal(
        method,
        method === 'account/logout' ? undefined : { type: 'apiKey', apiKey: KEY },
      );
      expect(error).toMatchObject({
        data: { code: 'login_file_unusable' },
        message: expect.stringContaining(file),
      });
    }
    expect(readFileSync(file, 'utf8')).toBe('not JSON');
  });

  test('the next request of a thread that is already loaded has the key', async () => {
    const keys: unknown[] = [];
    const noting: Reply = (res, req) => {
      if (req.method === 'POST') keys.push(req.headers.authorization);
      answered(res, req);
    };
    await using provider = await ProviderServer.start(noting);
    const { client } = await loginServer(provider.port);
    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'hi');
    await client.request('account/login/start', { type: 'apiKey', apiKey: KEY });
    await client.turn(thread.id, 'hi');
    await client.request('account/logout', undefined);
    await client.turn(thread.id, 'hi');
    expect(keys).toEqual([undefined, `Bearer ${KEY}`, undefined]);
  });

  test.each([
    { apiKey: '' },
    { apiKey: ' ' },
    { apiKey: 'two words' },
    { apiKey: 'ä' },
    { apiKey: 'x'.repeat(9000) },
  ])('refuses %j', async (params) => {
    const { client, file } = await loginServer();
    expect(
      await client.refusal('account/login/start', { type: 'apiKey', ...params }),
    ).toMatchObject({
      data: { code: 'invalid_api_key' },
    });
    expect(existsSync(file)).toBe(false);
  });

  test('other logins are refused by their kind', async () => {
    const { client } = await loginServer();
    const kinds = [
      { type: 'chatgpt' },
      { type: 'chatgptDeviceCode' },
      { type: 'chatgptAuthTokens', accessToken: 'x', chatgptAccountId: 'y' },
      { type: 'amazonBedrock', apiKey: 'x', region: 'y' },
      { type: 'amazonBedrockAccessKeys', accessKeyId: 'x', region: 'y', secretAccessKey: 'z' },
    ];
    for (const params of kinds) {
      expect(await client.refusal('account/login/start', params)).toEqual({
        code: -32600,
        message: `a login of type ${params.type} is not supported by this server: log in with an API key (type apiKey), or set env_key of the provider`,
        data: { code: 'login_not_supported' },
      });
    }
    expect(
      await client.request('account/login/cancel', {
        loginId: '00000000-0000-0000-0000-000000000000',
      }),
    ).toEqual({
      status: 'notFound',
    });
    expect(await client.refusal('account/login/cancel', { loginId: 'x' })).toMatchObject({
      data: { code: 'invalid_login_id' },
    });
  });

  test('getAuthStatus has the key only if it is asked for', async () => {
    const { client } = await loginServer();
    const none = { authMethod: null, authToken: null, requiresOpenaiAuth: true };
    expect(await client.request('getAuthStatus', { includeToken: true })).toEqual(none);
    await client.request('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect(await client.request('getAuthStatus', {})).toEqual({ ...none, authMethod: 'apikey' });
    expect(await client.request('getAuthStatus', { includeToken: true })).toEqual({
      ...none,
      authMethod: 'apikey',
      authToken: KEY,
    });
  });
});

describe('rate limits', () => {
  test('account/rateLimits/read is refused until a response tells them; account/rateLimits/updated tells changes', async () => {
    const told = ['12.5', '12.5', '40'];
    const reply: Reply = (res, req) => {
      const used = req.method === 'POST' ? told.shift() : undefined;
      if (used !== undefined) {
        res.setHeader('x-codex-primary-used-percent', used);
        res.setHeader('x-codex-primary-window-minutes', '300');
        res.setHeader('x-codex-primary-reset-at', '1800000000');
        res.setHeader('x-codex-secondary-used-percent', 'none');
        res.setHeader('x-codex-credits-has-credits', 'True');
        res.setHeader('x-codex-credits-unlimited', 'false');
        res.setHeader('x-codex-credits-balance', '7');
      }
      answered(res, req);
    };
    await using provider = await ProviderServer.start(reply);
    const { client } = await loginServer(provider.port);
    expect(await client.refusal('account/rateLimits/read')).toMatchObject({
      code: -32600,
      data: { code: 'no_rate_limits' },
    });
    const { thread } = await client.request('thread/start', {});
    for (let turn = 0; turn < 4; turn++) await client.turn(thread.id, 'hi');
    const limits = (usedPercent: number) => ({
      limitId: 'codex',
      limitName: null,
      primary: { usedPercent, windowDurationMins: 300, resetsAt: 1_800_000_000 },
      secondary: null,
      credits: { hasCredits: true, unlimited: false, balance: '7' },
      planType: null,
      rateLimitReachedType: null,
    });
    expect(client.notifications('account/rateLimits/updated')).toEqual([
      { rateLimits: limits(13) },
      { rateLimits: limits(40) },
    ]);
    expect(await client.request('account/rateLimits/read', undefined)).toEqual({
      rateLimits: limits(40),
      rateLimitsByLimitId: { codex: limits(40) },
    });
  });
});
