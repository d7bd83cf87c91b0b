import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Env } from '../../src/base/env.ts';
import { WireLog } from '../../src/cli/log/wire-log.ts';
import { namesSecret } from '../../src/secrets/names-secret.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';

function wireLog(env: Env = {}): {
  log: WireLog;
  file: string;
  entries: () => Record<string, unknown>[];
} {
  const file = join(tempFolder(), 'wire.jsonl');
  const log = new WireLog(file, { clock: new FakeClock(), env });
  return {
    log,
    file,
    entries: () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

/** The log's entry for one message. */
function loggedMessage(message: unknown, env: Env = {}): unknown {
  const { log, entries } = wireLog(env);
  log.received(JSON.stringify(message));
  log.close();
  return entries()[0]?.message;
}

test('it has both directions in their order, with the time', () => {
  const { log, entries, file } = wireLog();
  log.received('{"id":1,"method":"initialize"}');
  log.sent('{"id":1,"result":{}}');
  log.received('no JSON');
  log.close();
  const at = new Date(new FakeClock().now()).toISOString();
  expect(entries()).toEqual([
    { at, direction: 'in', message: { id: 1, method: 'initialize' } },
    { at, direction: 'out', message: { id: 1, result: {} } },
    { at, direction: 'in', reason: 'not JSON', length: 7 },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('it has none of the secrets that it is told later', () => {
  const { log, entries } = wireLog({ MY_TOKEN: 'tok-from-the-environment' });
  log.sent('{"text":"the gatewaykey of a provider"}');
  log.hide(['gatewaykey', 'short']);
  log.sent('{"text":"the gatewaykey of a provider, shorter than tok-from-the-environment"}');
  log.close();
  expect(entries().map(({ message }) => message)).toEqual([
    { text: 'the gatewaykey of a provider' },
    { text: 'the … of a provider, shorter than …' },
  ]);
});

test('it has no control characters, which a terminal would obey', () => {
  const { log, entries, file } = wireLog();
  const text = '\x1b[2K\x9b2K\x7f\u202e\u200b';
  log.received(JSON.stringify({ text }));
  log.close();
  expect(readFileSync(file, 'utf8').trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(entries()).toMatchObject([{ message: { text } }]);
});

test('an id that is too large for a JavaScript number is exact', () => {
  const { log, file } = wireLog();
  log.received('{"params":{"id":1},"id":9007199254740993,"method":"x"}');
  log.sent('{"id":-9007199254740995}');
  log.close();
  const messages = readFileSync(file, 'utf8').match(/(?<="message":).*(?=\})/g);
  expect(messages).toEqual([
    '{"id":9007199254740993,"params":{"id":1},"method":"x"}',
    '{"id":-9007199254740995}',
  ]);
});

describe('secrets are hidden', () => {
  test('under a key that names one, at any depth', () => {
    const config = {
      'model_providers.a.http_headers': { X: 'y' },
      model_providers: { a: { experimental_bearer_token: 'abc', env_key: 'A_KEY' } },
    };
    expect(
      loggedMessage({
        id: 1,
        params: {
          apiKey: 'k',
          config,
          env: { OPENAI_API_KEY: 'k2', LANG: 'C' },
          tokenUsage: { inputTokens: 3 },
        },
      }),
    ).toEqual({
      id: 1,
      params: {
        apiKey: '[hidden]',
        config: {
          'model_providers.a.http_headers': { X: '[hidden]' },
          model_providers: { a: { experimental_bearer_token: '[hidden]', env_key: 'A_KEY' } },
        },
        env: { OPENAI_API_KEY: '[hidden]', LANG: '[hidden]' },
        tokenUsage: { inputTokens: 3 },
      },
    });
  });

  test('beside the key path that names one', () => {
    const edits = [
      { keyPath: 'model_providers.a.experimental_bearer_token', value: 'abc' },
      { keyPath: 'model', value: 'm' },
    ];
    expect(loggedMessage({ params: { edits } })).toEqual({
      params: { edits: [{ ...edits[0], value: '[hidden]' }, edits[1]] },
    });
  });

  test("in texts: the environment's own, and what looks like one", () => {
    const text =
      'my key is hunter2hunter2, or sk-abcdefghijklmnopqrst, sent as Authorization: Bearer xyz';
    expect(
      loggedMessage(
        { text },
        { GITHUB_TOKEN: 'hunter2hunter2', PATH: '/usr/bin', EMPTY_SECRET: '' },
      ),
    ).toEqual({
      text: 'my key is …, or [hidden], sent as Authorization: Bearer [hidden]',
    });
  });

  test('before a string is truncated, and all of a message that is not JSON', () => {
    const { log, entries, file } = wireLog();
    log.received(JSON.stringify({ text: `${'x'.repeat(4090)} sk-abcdefghijklmnopqrst` }));
    log.received('{"method":"account/login/start","params":{"apiKey":"plain"');
    log.close();
    expect(readFileSync(file, 'utf8')).not.toMatch(/sk-|plain/);
    expect(entries()[1]).toEqual({
      at: expect.any(String),
      direction: 'in',
      reason: 'not JSON',
      length: 58,
    });
  });

  test.each([
    [
      'https://user:hunter2@host.example/v1?api_key=a#token=b',
      'https://[hidden]@host.example/v1?[hidden]#[hidden]',
    ],
    ['see https://host.example/a/b@v4, and c', 'see https://host.example/a/b@v4, and c'],
    [
      'curl -H "X-Api-Key: a" --password b --port 80',
      'curl -H "X-Api-Key: [hidden]" --password [hidden] --port 80',
    ],
    [
      'API_KEY=abc run --session-key=d --verbose=e',
      'API_KEY=[hidden] run --session-key=[hidden] --verbose=e',
    ],
    ['{"apiKey":"abc","n":[1, 2]}', '{"apiKey":"[hidden]","n":[1,2]}'],
    ['{ "n": [1, 2] }', '{ "n": [1, 2] }'],
    ['{"apiKey":"abc', '{"apiKey":"[hidden]'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [hidden]'],
    ['ghp_0123456789abcdef0123 github_pat_0123456789abcdef0123', '[hidden] [hidden]'],
    ['AKIAIOSFODNN7EXAMPLE AIzaSyA1234567890abcdefghijklmnopqrstuv', '[hidden] [hidden]'],
    ['xai-abcdefghijklmnopqrstuv gsk_0123456789abcdef0123', '[hidden] [hidden]'],
    ['a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln b', 'a [hidden] b'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest',
      '[hidden]\nrest',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '[hidden]'],
  ])('in the text %j', (text, expected) => {
    expect(loggedMessage({ text })).toEqual({ text: expected });
  });

  test.each([
    [
      { args: ['run', '--token', 'a', '--port', '80'] },
      { args: ['run', '--token', '[hidden]', '--port', '80'] },
    ],
    [{ query_params: { key: 'a' } }, { query_params: { key: '[hidden]' } }],
    [
      { headers: [{ name: 'X', value: 'a' }] },
      { headers: [{ name: '[hidden]', value: '[hidden]' }] },
    ],
    [
      { name: 'X-Api-Key', value: 'a' },
      { name: 'X-Api-Key', value: '[hidden]' },
    ],
    [
      { 'model_providers.w.http_headers.X-Key': 'a' },
      { 'model_providers.w.http_headers.X-Key': '[hidden]' },
    ],
    [{ 'mcp_servers.x.env.FOO': 'a' }, { 'mcp_servers.x.env.FOO': '[hidden]' }],
    [
      { keyPath: 'mcp_servers.x.env', value: { FOO: 'a' } },
      { keyPath: 'mcp_servers.x.env', value: { FOO: '[hidden]' } },
    ],
    [
      { tokens: ['a'], inputTokens: 3 },
      { tokens: ['[hidden]'], inputTokens: 3 },
    ],
    [
      { auth: { mode: 'm', envKey: 'A_KEY' }, requiresOpenaiAuth: true },
      { auth: { mode: '[hidden]', envKey: 'A_KEY' }, requiresOpenaiAuth: true },
    ],
  ])('in the values of %j', (message, expected) => {
    expect(loggedMessage(message)).toEqual(expected);
  });

  test("the environment's working folder is none, a password in one of its addresses is", () => {
    const env = { PWD: '/home/me/work', DATABASE_URL: 'postgres://me:hunter2hunter2@db/x' };
    expect(loggedMessage({ text: 'in /home/me/work with hunter2hunter2' }, env)).toEqual({
      text: 'in /home/me/work with …',
    });
  });

  test.each(['a', ' ', '-a', 'Bearer ', 'eyJaaaa.', '"a":', "a='", 'http://', '@'])(
    '%j a million times over is read through once',
    (part) => {
      const { log, entries } = wireLog();
      log.sent(JSON.stringify({ text: part.repeat(1_000_000 / part.length) }));
      log.close();
      expect(entries()).toHaveLength(1);
    },
  );

  test.each([
    ['apiKey', true],
    ['AWS_SECRET_ACCESS_KEY', true],
    ['refresh_token', true],
    ['clientSecret', true],
    ['dbPassword', true],
    ['auth', true],
    ['bearer', true],
    ['passphrase', true],
    ['pwd', true],
    ['GITHUB_PAT', true],
    ['jwt', true],
    ['session_key', true],
    ['signing_key', true],
    ['subscription_key', true],
    ['cookies', true],
    ['bearer_token_env_var', false],
    ['tokenUsage', false],
    ['totalTokens', false],
    ['env_key', false],
    ['keyPath', false],
    ['authMode', false],
  ])('%s: %s', (key, isSecret) => {
    expect(namesSecret(key)).toBe(isSecret);
  });
});

describe('its size is limited', () => {
  test('long strings are truncated, and so is a message with very many parts', () => {
    expect(loggedMessage({ text: 'a'.repeat(5000) })).toEqual({
      text: `${'a'.repeat(4096)}… (5000 characters)`,
    });
    const { log, entries } = wireLog();
    log.sent(JSON.stringify(Array.from({ length: 300_000 }, (_none, index) => index)));
    log.sent(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    log.close();
    expect(entries().map(({ text }) => String(text).length < 300_000)).toEqual([true, true]);
  });

  test('a full file becomes FILE.1, and no more than those two are kept', () => {
    const { log, file } = wireLog();
    const long = JSON.stringify(Array.from({ length: 60 }, () => 'b'.repeat(4000)));
    for (let index = 0; index < 200; index++) log.sent(long);
    log.sent('"last"');
    log.close();
    expect(statSync(file).size).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(statSync(`${file}.1`).size).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(existsSync(`${file}.2`)).toBe(false);
    expect(readFileSync(file, 'utf8')).toContain('"last"');
  });

  test('a full file that cannot be renamed takes no more messages, and no other file is touched', () => {
    const { log, file } = wireLog();
    mkdirSync(`${file}.1`);
    const long = JSON.stringify(Array.from({ length: 60 }, () => 'b'.repeat(4000)));
    for (let index = 0; index < 80; index++) log.sent(long);
    const full = statSync(file).size;
    const others = Array.from({ length: 8 }, (_none, index) =>
      openSync(join(dirname(file), `other${index}`), 'a'),
    );
    log.sent(long);
    log.sent(long);
    expect({
      size: statSync(file).size,
      others: others.map((other) => fstatSync(other).size),
    }).toEqual({
      size: full,
      others: others.map(() => 0),
    });
    rmdirSync(`${file}.1`);
    log.sent(long);
    log.close();
    for (const other of others) closeSync(other);
    expect(statSync(`${file}.1`).size).toBe(full);
    expect(statSync(file).size).toBeLessThan(full);
  });

  test('later messages are not written after it was closed', () => {
    const { log, entries } = wireLog();
    log.sent('{"id":1}');
    log.close();
    log.sent('{"id":2}');
    log.close();
    expect(entries()).toHaveLength(1);
  });

  test('a file that cannot be opened throws at once', () => {
    expect(
      () =>
        new WireLog(join(tempFolder(), 'none', 'wire.jsonl'), { clock: new FakeClock(), env: {} }),
    ).toThrow(/ENOENT/);
  });
});
