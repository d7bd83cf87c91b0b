import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServer } from '../support/test-server.ts';

const OPENAI = {
  id: 'openai',
  name: 'OpenAI',
  canEdit: false,
  baseUrl: 'https://api.openai.com/v1',
  settings: { type: 'openai' },
};
const EMBEDDED = {
  id: 'embedded',
  name: 'Embedded model',
  canEdit: false,
  baseUrl: null,
  settings: { type: 'customGateway', auth: { mode: 'none' } },
};

function local(id: string, name: string, port: number) {
  return { ...EMBEDDED, id, name, baseUrl: `http://localhost:${port}/v1` };
}

const KEYLESS = [local('ollama', 'Ollama', 11434), local('lmstudio', 'LM Studio', 1234), EMBEDDED];

function gateway(id: string, auth: object) {
  return {
    id,
    name: id,
    canEdit: true,
    baseUrl: `https://${id}.example`,
    settings: { type: 'customGateway', auth },
  };
}

describe('modelProvider/list', () => {
  test('lists the configured providers with the sources of their keys, then the built-in ones', async () => {
    const config = `model_provider = "keyed"
[model_providers.keyed]
base_url = "https://keyed.example"
env_key = "MY_KEY"
[model_providers.open]
base_url = "https://open.example"
[model_providers.logged-in]
base_url = "https://logged-in.example"
requires_openai_auth = true
[model_providers.headed]
base_url = "https://headed.example"
http_headers = { Authorization = "Bearer secret" }
`;
    const { client } = await startServer({ config });
    expect(await client.request('modelProvider/list', {})).toEqual({
      data: [
        gateway('keyed', { mode: 'environmentVariable', envKey: 'MY_KEY' }),
        gateway('open', { mode: 'none' }),
        gateway('logged-in', { mode: 'externallyConfigured', envKey: null }),
        gateway('headed', { mode: 'externallyConfigured', envKey: null }),
        OPENAI,
        ...KEYLESS,
      ],
      defaultProviderId: 'keyed',
      canChangeDefault: true,
    });
  });

  test('shows no secrets', async () => {
    const config = `model_provider = "a"
[model_providers.a]
base_url = "https://a.example"
http_headers = { Authorization = "Bearer secret-1" }
env_http_headers = { X-Key = "A_KEY" }
query_params = { key = "secret-2" }
[model_providers.b]
base_url = "https://user:secret-5@b.example/v1?key=secret-6"
`;
    const { client } = await startServer({
      config,
      env: { A_KEY: 'secret-3', OPENAI_API_KEY: 'secret-4' },
    });
    await client.request('modelProvider/list', {});
    expect(client.lines.filter((line) => line.includes('secret'))).toEqual([]);
  });

  test('lists a built-in provider once, with the changes of the configuration', async () => {
    const config = `[model_providers.openai]\nname = "Proxy"\nbase_url = "https://proxy.example/v1"\n`;
    const { client } = await startServer({ config, env: { OPENAI_API_KEY: 'x' }, model: null });
    expect(await client.request('modelProvider/list', {})).toEqual({
      data: [{ ...OPENAI, name: 'Proxy', baseUrl: 'https://proxy.example/v1' }, ...KEYLESS],
      defaultProviderId: 'openai',
      canChangeDefault: true,
    });
  });

  test('names the embedded model as the default without a configuration', async () => {
    const { client } = await startServer({ config: '' });
    expect(await client.request('modelProvider/list', {})).toMatchObject({
      defaultProviderId: 'embedded',
      data: [OPENAI, ...KEYLESS],
    });
  });

  test('lists the embedded model once, also under its older name', async () => {
    const { client } = await startServer({
      config: '[model_providers.scripted]\nname = "Mine"\n',
      model: null,
    });
    const { data, defaultProviderId } = await client.request('modelProvider/list', {});
    expect([data.map(({ id, name }) => [id, name]), defaultProviderId]).toEqual([
      [
        ['scripted', 'Mine'],
        ['openai', 'OpenAI'],
        ['ollama', 'Ollama'],
        ['lmstudio', 'LM Studio'],
      ],
      'scripted',
    ]);
  });

  test('leaves out a provider with an invalid configuration, even the default one', async () => {
    const { client } = await startServer({
      config: 'model_provider = "bad"\n[model_providers.bad]\nbase_url = 5\n',
    });
    expect(await client.request('modelProvider/list', {})).toEqual({
      data: [OPENAI, ...KEYLESS],
      defaultProviderId: 'bad',
      canChangeDefault: true,
    });
  });

  test('is refused if the configuration cannot be read, with the place of the error', async () => {
    const { client } = await startServer({ config: 'model_provider = 5\n' });
    expect(await client.refusal('modelProvider/list', {})).toEqual({
      code: -32600,
      message: expect.stringMatching(/config\.toml.*model_provider/),
      data: { code: 'config_invalid' },
    });
  });

  test('requires its params to be an object', async () => {
    const { client } = await startServer();
    expect(await client.refusal('modelProvider/list')).toMatchObject({
      code: -32600,
      data: { code: 'invalid_params' },
    });
  });
});

const refused = (code: string, message: RegExp) => ({
  code: -32600,
  message: expect.stringMatching(message),
  data: { code: expect.any(String), config_write_error_code: code },
});

describe('modelProvider/config/write', () => {
  const OWN =
    '[model_providers.own] # mine\nname = "Own"\nbase_url = "https://own.example"\nenv_key = "OWN_KEY"\n';

  test('creates a provider with an id that is made from its name', async () => {
    const { client, home } = await startServer({ config: OWN });
    const settings = {
      type: 'customGateway' as const,
      name: 'My Gateway!',
      baseUrl: 'https://gateway.example/v1',
      envKey: 'G_KEY',
    };
    const created = await client.request('modelProvider/config/write', { settings });
    const auth = { mode: 'environmentVariable' as const, envKey: 'G_KEY' };
    const provider = {
      id: 'my-gateway',
      name: 'My Gateway!',
      canEdit: true,
      baseUrl: settings.baseUrl,
      settings: { type: 'customGateway', auth },
    };
    expect(created).toEqual({ provider });
    expect(await client.request('modelProvider/config/write', { settings })).toMatchObject({
      provider: { id: 'my-gateway-2' },
    });
    for (const name of ['Embedded', 'Scripted']) {
      const id = `${name.toLowerCase()}-2`;
      expect(
        await client.request('modelProvider/config/write', { settings: { ...settings, name } }),
      ).toMatchObject({ provider: { id } });
    }
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toContain(OWN);
    const { data } = await client.request('modelProvider/list', {});
    expect(data).toContainEqual(provider);
  });

  test('changes only the fields that are given', async () => {
    const { client, home } = await startServer({ config: OWN });
    const settings = {
      type: 'customGateway' as const,
      providerId: 'own',
      name: 'Other',
      envKey: null,
    };
    expect(await client.request('modelProvider/config/write', { settings })).toMatchObject({
      provider: {
        id: 'own',
        name: 'Other',
        baseUrl: 'https://own.example',
        settings: { auth: { mode: 'none' } },
      },
    });
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toBe(
      '[model_providers.own] # mine\nname = "Other"\nbase_url = "https://own.example"\n',
    );
  });

  test.each([
    [
      { type: 'customGateway', baseUrl: 'https://x.example' },
      'configValidationError',
      /settings.name is missing/,
    ],
    [{ type: 'customGateway', name: 'X' }, 'configValidationError', /settings.baseUrl is missing/],
    [
      { type: 'customGateway', name: 'X', baseUrl: 'ftp://x' },
      'configValidationError',
      /expected an http or https URL/,
    ],
    [
      { type: 'customGateway', name: 'X', baseUrl: 'http://x', envKey: 'a b' },
      'configValidationError',
      /name of an environment variable/,
    ],
    [
      { type: 'customGateway', providerId: 'own', name: ' ' },
      'configValidationError',
      /settings.name must not be empty/,
    ],
    [
      { type: 'customGateway', providerId: 'own', baseUrl: null },
      'configValidationError',
      /cannot be removed/,
    ],
    [
      { type: 'customGateway', providerId: 'openai', name: 'X' },
      'configValidationError',
      /openai is built in/,
    ],
    [
      { type: 'customGateway', providerId: 'nope', name: 'X' },
      'configPathNotFound',
      /unknown model provider: nope/,
    ],
    [
      { type: 'bedrock', providerId: 'amazon-bedrock', region: 'x' },
      'configValidationError',
      /heddle has no provider amazon-bedrock:/,
    ],
    [
      { type: 'bedrock', providerId: 'amazon-bedrock-runtime' },
      'configValidationError',
      /heddle has no provider amazon-bedrock-runtime/,
    ],
    [
      { type: 'gcp', providerId: 'gcp', location: 'x' },
      'configValidationError',
      /heddle has no provider gcp/,
    ],
  ])('refuses %j', async (settings, code, message) => {
    const { client, home } = await startServer({ config: OWN });
    expect(await client.refusal('modelProvider/config/write', { settings })).toEqual(
      refused(code, message),
    );
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toBe(OWN);
  });
});

describe('modelProvider/capabilities/read', () => {
  test.each([
    ['responses', true],
    ['chat', false],
    ['scripted', false],
    ['embedded', false],
  ])('of a provider with the API %s', async (api, has) => {
    const base = ['scripted', 'embedded'].includes(api) ? '' : 'base_url = "https://own.example"\n';
    const { client } = await startServer({
      config: `model_provider = "own"\n[model_providers.own]\n${base}wire_api = "${api}"\n`,
      model: null,
    });
    const capabilities = { namespaceTools: has, imageGeneration: false, webSearch: has };
    expect(await client.request('modelProvider/capabilities/read', {})).toEqual(capabilities);
  });
});

test('modelProvider/config/write: two new providers of one name at the same time are two', async () => {
  const { client } = await startServer();
  const write = (port: number) =>
    client.request('modelProvider/config/write', {
      settings: { type: 'customGateway', name: 'Work', baseUrl: `http://127.0.0.1:${port}` },
    });
  const written = await Promise.all([write(1), write(2)]);
  expect(written.map(({ provider }) => [provider.id, provider.baseUrl])).toEqual([
    ['work', 'http://127.0.0.1:1'],
    ['work-2', 'http://127.0.0.1:2'],
  ]);
});
