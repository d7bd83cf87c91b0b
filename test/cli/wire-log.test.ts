import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { namesSecret } from '../../src/cli/hide-secrets.ts';
import { WireLog } from '../../src/cli/wire-log.ts';
import type { Env } from '../../src/config/config.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';

function wireLog(env: Env = {}): { log: WireLog; file: string; entries: () => Record<string, unknown>[] } {
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

/** What the log shows of one message. */
function shown(message: unknown, env: Env = {}): unknown {
  const { log, entries } = wireLog(env);
  log.received(JSON.stringify(message));
  log.close();
  return entries()[0]?.message;
}

test('both directions, in their order, with the time', () => {
  const { log, entries, file } = wireLog();
  log.received('{"id":1,"method":"initialize"}');
  log.sent('{"id":1,"result":{}}');
  log.received('no JSON');
  log.close();
  const at = new Date(new FakeClock().now()).toISOString();
  expect(entries()).toEqual([
    { at, direction: 'in', message: { id: 1, method: 'initialize' } },
    { at, direction: 'out', message: { id: 1, result: {} } },
    { at, direction: 'in', text: 'no JSON' },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

describe('secrets are hidden', () => {
  test('under a key that names one, at any depth', () => {
    const config = {
      'model_providers.a.http_headers': { X: 'y' },
      model_providers: { a: { experimental_bearer_token: 'abc', env_key: 'A_KEY' } },
    };
    expect(
      shown({ id: 1, params: { apiKey: 'k', config, env: { OPENAI_API_KEY: 'k2', LANG: 'C' }, tokenUsage: { inputTokens: 3 } } }),
    ).toEqual({
      id: 1,
      params: {
        apiKey: '[hidden]',
        config: {
          'model_providers.a.http_headers': '[hidden]',
          model_providers: { a: { experimental_bearer_token: '[hidden]', env_key: 'A_KEY' } },
        },
        env: { OPENAI_API_KEY: '[hidden]', LANG: 'C' },
        tokenUsage: { inputTokens: 3 },
      },
    });
  });

  test('beside the key path that names one', () => {
    const edits = [
      { keyPath: 'model_providers.a.experimental_bearer_token', value: 'abc' },
      { keyPath: 'model', value: 'm' },
    ];
    expect(shown({ params: { edits } })).toEqual({ params: { edits: [{ ...edits[0], value: '[hidden]' }, edits[1]] } });
  });

  test("in texts: the environment's own, and what looks like one", () => {
    const text = 'my key is hunter2hunter2, or sk-abcdefghijklmnopqrst, sent as Authorization: Bearer xyz';
    expect(shown({ text }, { GITHUB_TOKEN: 'hunter2hunter2', PATH: '/usr/bin', EMPTY_SECRET: '' })).toEqual({
      text: 'my key is …, or [hidden], sent as Authorization: Bearer [hidden]',
    });
  });

  test('in what is no JSON, and before it is cut', () => {
    const { log, entries } = wireLog();
    log.received(`${'x'.repeat(4090)} sk-abcdefghijklmnopqrst`);
    log.close();
    expect(JSON.stringify(entries())).not.toContain('sk-');
  });

  test.each([
    ['apiKey', true],
    ['AWS_SECRET_ACCESS_KEY', true],
    ['refresh_token', true],
    ['clientSecret', true],
    ['dbPassword', true],
    ['tokenUsage', false],
    ['totalTokens', false],
    ['env_key', false],
    ['keyPath', false],
    ['authMode', false],
  ])('%s: %s', (key, isSecret) => {
    expect(namesSecret(key)).toBe(isSecret);
  });
});

describe('it stays within bounds', () => {
  test('long strings are cut, and a message with very many parts is cut itself', () => {
    expect(shown({ text: 'a'.repeat(5000) })).toEqual({ text: `${'a'.repeat(4096)}… (5000 characters)` });
    const { log, entries } = wireLog();
    log.sent(JSON.stringify(Array.from({ length: 300_000 }, (_none, index) => index)));
    log.sent(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    log.close();
    expect(entries().map(({ text }) => String(text).length < 300_000)).toEqual([true, true]);
  });

  test('a file that is full becomes FILE.1, and no more than those two are kept', () => {
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

  test('a file that cannot be opened is told at once', () => {
    expect(() => new WireLog(join(tempFolder(), 'none', 'wire.jsonl'), { clock: new FakeClock(), env: {} })).toThrow(/ENOENT/);
  });
});
