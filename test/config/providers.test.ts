import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseModel, chooseProvider } from '../../src/config/providers/choose-provider.ts';
import { readProvider } from '../../src/config/providers/read-provider.ts';
import { configErrorOf, load } from './load.ts';

const OPENAI = {
  id: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  envKey: 'OPENAI_API_KEY',
  usesLogin: true,
  wireApi: 'responses',
  localServer: null,
  script: null,
  httpHeaders: {},
  queryParams: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  connectTimeoutMs: 10_000,
  streamIdleTimeoutMs: 300_000,
};
const EMBEDDED = {
  id: 'embedded',
  name: 'Embedded model',
  baseUrl: null,
  envKey: null,
  usesLogin: false,
  wireApi: 'embedded',
  localServer: null,
  script: null,
  httpHeaders: {},
  queryParams: {},
  requestMaxRetries: 0,
  streamMaxRetries: 0,
  connectTimeoutMs: 10_000,
  streamIdleTimeoutMs: 300_000,
};
const BASE = 'base_url = "http://127.0.0.1:1/v1"\n';

describe('a provider with a script needs nothing else', () => {
  const provider = { ...EMBEDDED, id: 'p', name: 'p' };
  const scripted = { ...provider, wireApi: 'scripted', script: '/a/b.yaml' };
  test.each([
    ['script = "/a/b.yaml"', scripted],
    ['wire_api = "scripted"\nscript = "/a/b.yaml"', scripted],
    ['wire_api = "embedded"', provider],
    // The older name.
    ['wire_api = "scripted"', provider],
  ])('%j', async (definition, expected) => {
    expect(readProvider(await load(`[model_providers.p]\n${definition}\n`), 'p')).toEqual(expected);
  });

  test('a relative path that is not from a file is refused', async () => {
    const config = await load('', { overrides: ['model_providers.p.script=a.yaml'] });
    expect((await configErrorOf(() => readProvider(config, 'p'))).message).toBe(
      'invalid config: model_providers.p.script (given on the command line): expected an absolute path, found "a.yaml"',
    );
  });
});

describe('an invalid provider is refused', () => {
  test.each([
    ['', /config\.toml:1:18: model_providers\.p: base_url is missing/],
    ['base_url = 5', /base_url: expected an http or https URL, found 5/],
    ['base_url = "127.0.0.1:1"', /base_url: expected an http or https URL, found a string/],
    ['base_url = "file:///etc/passwd"', /base_url: expected an http or https URL/],
    ['base_url = "http://"', /base_url: expected an http or https URL/],
    [`${BASE}name = 5`, /config\.toml:3:1: model_providers\.p\.name: expected a non-empty string/],
    [
      `${BASE}env_key = ""`,
      /env_key: expected the name of an environment variable, not the key itself, found an empty string/,
    ],
    [
      `${BASE}wire_api = "grpc"`,
      /wire_api: expected "responses", "chat", "scripted" or "embedded", found "grpc"/,
    ],
    [
      `${BASE}script = "a.yaml"`,
      /config\.toml:3:1: model_providers\.p\.script: only a provider with wire_api = "scripted" can have a script/,
    ],
    [
      'wire_api = "embedded"\nscript = "/a.yaml"',
      /config\.toml:3:1: model_providers\.p\.script: only a provider with wire_api = "scripted" can have a script/,
    ],
    ['script = ""', /script: expected a non-empty string, found ""/],
    [
      `${BASE}http_headers = "x"`,
      /http_headers: expected a table of header names and single-line string values, found a string/,
    ],
    [`${BASE}http_headers = { a = 1 }`, /http_headers: expected a table of header names/],
    [`${BASE}http_headers = { "a b" = "x" }`, /http_headers: expected a table of header names/],
    [
      `${BASE}http_headers = { a = "x\\r\\ny: z" }`,
      /http_headers: expected a table of header names/,
    ],
    [
      `${BASE}env_http_headers = ["A"]`,
      /env_http_headers: expected a table of header names and environment variable names, found a list/,
    ],
    [
      `${BASE}query_params = { a = true }`,
      /query_params: expected a table of strings, found a table/,
    ],
    [
      `${BASE}request_max_retries = -1`,
      /request_max_retries: expected a whole number, 0 or more, found -1/,
    ],
    [
      `${BASE}stream_max_retries = 1.5`,
      /stream_max_retries: expected a whole number, 0 or more, found 1.5/,
    ],
    [
      `${BASE}stream_idle_timeout_ms = 0`,
      /stream_idle_timeout_ms: expected a whole number, 1 or more, found 0/,
    ],
    [
      `${BASE}stream_idle_timeout_ms = "5s"`,
      /stream_idle_timeout_ms: expected a whole number, 1 or more, found "5s"/,
    ],
  ])('%j', async (definition, message) => {
    const config = await load(`[model_providers.p]\n${definition}\n`);
    expect((await configErrorOf(() => readProvider(config, 'p'))).message).toMatch(message);
  });

  test.each([
    ['model_providers = 5\n', /config\.toml:1:1: model_providers: expected a table, found 5/],
    [
      'model_providers.p = "http://x"\n',
      /config\.toml:1:17: model_providers\.p: expected a table, found a string/,
    ],
  ])('%j', async (text, message) => {
    const config = await load(text);
    expect((await configErrorOf(() => readProvider(config, 'p'))).message).toMatch(message);
  });

  const texts = 'expected a table of header names and single-line string values';
  const variables = 'expected a table of header names and environment variable names';
  test.each([
    ['model_providers.p = "sk-secret"', 'p: expected a table, found a string'],
    [
      `[model_providers.p]\nbase_url = "ws://user:sk-secret@h/"`,
      'p.base_url: expected an http or https URL, found a string',
    ],
    [
      `[model_providers.p]\n${BASE}http_headers = "sk-secret"`,
      `p.http_headers: ${texts}, found a string`,
    ],
    [
      `[model_providers.p]\n${BASE}http_headers = { x = "sk-secret\\n" }`,
      `p.http_headers: ${texts}, found a table`,
    ],
    [
      `[model_providers.p]\n${BASE}query_params = "sk-secret"`,
      'p.query_params: expected a table of strings, found a string',
    ],
    [
      `[model_providers.p]\n${BASE}env_key = "sk-secret"`,
      'p.env_key: expected the name of an environment variable, not the key itself, found a string',
    ],
    [
      `[model_providers.p]\n${BASE}env_http_headers = { X-Key = "sk-secret" }`,
      `p.env_http_headers: ${variables}, found a table`,
    ],
  ])('without values that may be secret: %j', async (text, problem) => {
    const config = await load(`${text}\n`);
    const { message } = await configErrorOf(() => readProvider(config, 'p'));
    expect(message.replace(/^.*model_providers\./, '')).toBe(problem);
  });

  test('and does not affect the others', async () => {
    const config = await load(
      `[model_providers.bad]\nbase_url = 5\n[model_providers.good]\n${BASE}`,
    );
    expect(readProvider(config, 'good').baseUrl).toBe('http://127.0.0.1:1/v1');
    expect(readProvider(config, 'openai')).toEqual(OPENAI);
  });

  test('the error for a header variable with several lines names the variable', async () => {
    const config = await load(
      `[model_providers.p]\n${BASE}env_http_headers = { X-Key = "KEY" }\n`,
      { env: { KEY: 'secret\nx' } },
    );
    const error = await configErrorOf(() => readProvider(config, 'p'));
    expect(error.message).toBe(
      `invalid config: ${join(config.home, 'config.toml')}:3:22: model_providers.p.env_http_headers.X-Key: the value of KEY must be a single line`,
    );
  });
});

describe('the error for an unknown provider names it', () => {
  test.each([
    [
      '',
      'nope',
      'unknown model provider: nope. config.toml defines no providers. Built in: openai, ollama, lmstudio, embedded',
    ],
    [
      `[model_providers.a]\n${BASE}[model_providers.b]\n${BASE}`,
      'nope',
      'unknown model provider: nope. config.toml defines a, b. Built in: openai, ollama, lmstudio, embedded',
    ],
    [
      '',
      'constructor',
      'unknown model provider: constructor. config.toml defines no providers. Built in: openai, ollama, lmstudio, embedded',
    ],
    [
      '',
      'olama',
      'unknown model provider: olama, did you mean ollama? config.toml defines no providers. Built in: openai, ollama, lmstudio, embedded',
    ],
    [
      `[model_providers.work]\n${BASE}`,
      'wrok',
      'unknown model provider: wrok, did you mean work? config.toml defines work. Built in: openai, ollama, lmstudio, embedded',
    ],
    [
      '',
      '',
      'unknown model provider: . config.toml defines no providers. Built in: openai, ollama, lmstudio, embedded',
    ],
  ])('%#', async (text, requested, message) => {
    const config = await load(text);
    expect((await configErrorOf(() => chooseProvider(config, requested))).message).toBe(
      `invalid config: ${message}`,
    );
  });

  test('also if config.toml names it', async () => {
    const config = await load('model_provider = "nope"\n');
    expect((await configErrorOf(() => chooseProvider(config, null))).message).toMatch(
      /unknown model provider: nope/,
    );
  });
});

test('a complete provider of config.toml', async () => {
  const text = `[model_providers."my.own"]
name = "Mine"
base_url = "https://models.example/v1"
env_key = "MY_KEY"
wire_api = "chat"
http_headers = { X-A = "a", X-B = "b" }
env_http_headers = { X-B = "B", X-C = "C", X-D = "D", X-E = "constructor" }
query_params = { api-version = "1" }
request_max_retries = 0
stream_max_retries = 1
connect_timeout_ms = 2000
stream_idle_timeout_ms = 1000
`;
  const config = await load(text, { env: { B: 'from env', C: '' } });
  expect(readProvider(config, 'my.own')).toEqual({
    id: 'my.own',
    name: 'Mine',
    baseUrl: 'https://models.example/v1',
    envKey: 'MY_KEY',
    usesLogin: false,
    wireApi: 'chat',
    localServer: null,
    script: null,
    httpHeaders: { 'X-A': 'a', 'X-B': 'from env' },
    unsetVariables: ['C', 'D', 'constructor'],
    queryParams: { 'api-version': '1' },
    requestMaxRetries: 0,
    streamMaxRetries: 1,
    connectTimeoutMs: 2000,
    streamIdleTimeoutMs: 1000,
  });
});

test('retries and waits have a maximum', async () => {
  const config = await load(
    `[model_providers.p]\n${BASE}request_max_retries = 1000000\nstream_max_retries = 1000000\nconnect_timeout_ms = 99999999999\nstream_idle_timeout_ms = 99999999999\n`,
  );
  expect(readProvider(config, 'p')).toMatchObject({
    requestMaxRetries: 100,
    streamMaxRetries: 100,
    connectTimeoutMs: 600_000,
    streamIdleTimeoutMs: 3_600_000,
  });
});

describe('the built-in providers', () => {
  test('openai, at OPENAI_BASE_URL if it is set', async () => {
    expect(readProvider(await load(''), 'openai')).toEqual(OPENAI);
    const config = await load('', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:2/v1' } });
    expect(readProvider(config, 'openai')).toEqual({ ...OPENAI, baseUrl: 'http://127.0.0.1:2/v1' });
    expect(readProvider(await load('', { env: { OPENAI_BASE_URL: '' } }), 'openai')).toEqual(
      OPENAI,
    );
  });

  test('openai, partly overridden', async () => {
    const config = await load('[model_providers.openai]\nstream_max_retries = 0\n');
    expect(readProvider(config, 'openai')).toEqual({ ...OPENAI, streamMaxRetries: 0 });
  });

  const LOCAL = {
    ...OPENAI,
    envKey: null,
    usesLogin: false,
    wireApi: 'chat',
    requestMaxRetries: 2,
    streamMaxRetries: 2,
  };
  const OLLAMA = {
    ...LOCAL,
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://localhost:11434/v1',
    localServer: 'ollama',
  };

  test('ollama and lmstudio, on this machine and without a key', async () => {
    const config = await load('');
    expect(readProvider(config, 'ollama')).toEqual(OLLAMA);
    expect(readProvider(config, 'lmstudio')).toEqual({
      ...LOCAL,
      id: 'lmstudio',
      name: 'LM Studio',
      baseUrl: 'http://localhost:1234/v1',
      localServer: 'lmstudio',
    });
  });

  test('ollama, partly overridden', async () => {
    const config = await load(
      '[model_providers.ollama]\nbase_url = "http://gpu:1/v1"\nwire_api = "responses"\nrequest_max_retries = 0\n',
      {
        env: { OLLAMA_HOST: 'elsewhere' },
      },
    );
    expect(readProvider(config, 'ollama')).toEqual({
      ...OLLAMA,
      baseUrl: 'http://gpu:1/v1',
      wireApi: 'responses',
      requestMaxRetries: 0,
    });
  });

  test.each([
    ['', 'http://localhost:11434/v1'],
    ['  ', 'http://localhost:11434/v1'],
    ['gpu', 'http://gpu:11434/v1'],
    ['gpu:1234', 'http://gpu:1234/v1'],
    [':1234', 'http://localhost:1234/v1'],
    ['"127.0.0.1:1234"', 'http://127.0.0.1:1234/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:1234', 'http://127.0.0.1:1234/v1'],
    ['::1', 'http://[::1]:11434/v1'],
    ['[::1]', 'http://[::1]:11434/v1'],
    ['[::]:1234', 'http://[::1]:1234/v1'],
    ['gpu:99999', 'http://gpu:11434/v1'],
    ['gpu:', 'http://gpu:11434/v1'],
    ['http://gpu:1234/', 'http://gpu:1234/v1'],
    ['http://gpu', 'http://gpu/v1'],
    ['HTTPS://gpu', 'https://gpu/v1'],
    ['https://gpu:1234/ollama/', 'https://gpu:1234/ollama/v1'],
  ])('ollama, at OLLAMA_HOST as Ollama reads it: %j', async (host, baseUrl) => {
    const provider = readProvider(await load('', { env: { OLLAMA_HOST: host } }), 'ollama');
    expect(provider.baseUrl).toBe(baseUrl);
    expect(URL.canParse(baseUrl)).toBe(true);
  });

  // `scripted` is the older name. Whichever of the two is defined, both mean it.
  test.each(['embedded', 'scripted'])(
    'the embedded model, replaced under the name %s',
    async (id) => {
      const changed = await load(
        `[model_providers.${id}]\nname = "Mine"\nscript = "scripts/a.yaml"\n`,
      );
      const config = await load(`[model_providers.${id}]\n${BASE}`);
      for (const asked of ['embedded', 'scripted']) {
        expect(readProvider(await load(''), asked)).toEqual(EMBEDDED);
        const script = join(changed.home, 'scripts/a.yaml');
        expect(readProvider(changed, asked)).toEqual({
          ...EMBEDDED,
          id,
          name: 'Mine',
          wireApi: 'scripted',
          script,
        });
        expect(readProvider(config, asked)).toEqual({
          ...OPENAI,
          id,
          name: id,
          baseUrl: 'http://127.0.0.1:1/v1',
          envKey: null,
          usesLogin: false,
        });
      }
    },
  );

  test('the embedded model, defined under both names', async () => {
    const config = await load(
      '[model_providers.embedded]\nname = "New"\n[model_providers.scripted]\nname = "Old"\n',
    );
    expect(['embedded', 'scripted'].map((id) => readProvider(config, id).name)).toEqual([
      'New',
      'Old',
    ]);
  });
});

describe('the provider of a thread', () => {
  const text = `[model_providers.a]\n${BASE}[model_providers.b]\n${BASE}`;
  const chosen = `model_provider = "a"\n${text}`;
  const key = { OPENAI_API_KEY: 'k' };
  test.each([
    {
      rule: 'the request comes first',
      toml: chosen,
      requested: 'b',
      env: key,
      id: 'b',
      embeddedDefault: false,
    },
    {
      rule: 'then model_provider',
      toml: chosen,
      requested: null,
      env: key,
      id: 'a',
      embeddedDefault: false,
    },
    {
      rule: 'then openai, if its key is there',
      toml: text,
      requested: null,
      env: key,
      id: 'openai',
      embeddedDefault: false,
    },
    {
      rule: 'an empty key is none',
      toml: text,
      requested: null,
      env: { OPENAI_API_KEY: '' },
      id: 'embedded',
      embeddedDefault: true,
    },
    {
      rule: 'then the embedded model, which nobody chose',
      toml: '',
      requested: null,
      env: {},
      id: 'embedded',
      embeddedDefault: true,
    },
    {
      rule: 'the embedded model can be chosen',
      toml: '',
      requested: 'embedded',
      env: key,
      id: 'embedded',
      embeddedDefault: false,
    },
    {
      rule: 'and by its older name',
      toml: '',
      requested: 'scripted',
      env: key,
      id: 'embedded',
      embeddedDefault: false,
    },
    {
      rule: 'and so in the file',
      toml: 'model_provider = "scripted"\n',
      requested: null,
      env: key,
      id: 'embedded',
      embeddedDefault: false,
    },
  ])('$rule', async ({ toml, requested, env, id, embeddedDefault }) => {
    const chosenProvider = chooseProvider(await load(toml, { env }), requested);
    expect(chosenProvider).toEqual({ provider: expect.objectContaining({ id }), embeddedDefault });
  });
});

describe('the model of a thread', () => {
  const own = `[model_providers.p]\n${BASE}`;
  test.each([
    {
      rule: 'the request comes first',
      toml: 'model = "file"\n',
      id: 'openai',
      requested: 'asked',
      model: 'asked',
    },
    { rule: 'then model', toml: 'model = "file"\n', id: 'openai', requested: null, model: 'file' },
    {
      rule: 'then the default of openai',
      toml: '',
      id: 'openai',
      requested: null,
      model: 'gpt-5.5',
    },
    {
      rule: 'then the default of the embedded model',
      toml: '',
      id: 'embedded',
      requested: null,
      model: 'embedded',
    },
  ])('$rule', async ({ toml, id, requested, model }) => {
    const config = await load(toml + own);
    expect(chooseModel(config, readProvider(config, id), requested)).toBe(model);
  });

  test('another provider without a model is refused, and the error says what to set', async () => {
    const config = await load(own);
    const error = await configErrorOf(() => chooseModel(config, readProvider(config, 'p'), null));
    expect(error.message).toBe(
      'invalid config: no model is set for the provider p: set model in config.toml',
    );
  });
});
