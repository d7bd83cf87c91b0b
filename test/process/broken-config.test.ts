import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type HeddleProcess, place, startHeddle } from './support.ts';

const PROVIDER = '[model_providers.work]\nbase_url = "http://127.0.0.1:9"\n';

/** Returns the warnings that the client gets, without the one about the embedded model. */
async function warning(heddle: HeddleProcess) {
  return heddle.waitFor('configWarning', ({ path }) => path !== null);
}

describe('a config.toml that cannot be read is told with file and line, and refuses threads alone', () => {
  test.each([
    ['no TOML', 'model = "m"\nthis is no TOML\n', 2],
    ['a value without its end', 'model = "m\n', 1],
    ['a key twice', 'model = "a"\n\nmodel = "b"\n', 3],
    ['no UTF-8', Buffer.from([0x61, 0x3d, 0x22, 0xff, 0x22]), null],
  ])('%s', async (_what, toml, line) => {
    const where = place({ 'config.toml': toml });
    const file = join(where.home, 'config.toml');
    const heddle = await startHeddle(where);
    const { summary, path, range } = await warning(heddle);
    expect([path, range?.start.line ?? null]).toEqual([file, line]);
    expect(summary).toContain(line === null ? file : `${file}:${line}:`);
    expect(await heddle.refusal('thread/start', {})).toEqual({
      code: -32600,
      message: summary,
      data: { code: 'config_invalid' },
    });
    expect((await heddle.request('thread/list', {})).data).toEqual([]);
    writeFileSync(file, '');
    const { thread } = await heddle.request('thread/start', {});
    expect(await heddle.turn(thread.id, 'hello')).toMatchObject({ status: 'completed' });
  });

  test('a folder in its place', async () => {
    const where = place();
    const file = join(where.home, 'config.toml');
    mkdirSync(file);
    const heddle = await startHeddle(where);
    const { summary, path } = await warning(heddle);
    expect(path).toBe(file);
    expect((await heddle.refusal('thread/start', {})).message).toBe(summary);
  });

  test('stored threads are listed and read meanwhile', async () => {
    const where = place();
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'hello');
    writeFileSync(join(where.home, 'config.toml'), '[[[');
    expect((await heddle.request('thread/list', {})).data.map(({ id }) => id)).toEqual([thread.id]);
    expect(
      (await heddle.request('thread/read', { threadId: thread.id, includeTurns: true })).thread
        .turns,
    ).toHaveLength(1);
    expect(await heddle.turn(thread.id, 'the loaded thread goes on')).toMatchObject({
      status: 'completed',
    });
    expect((await heddle.refusal('thread/fork', { threadId: thread.id })).data).toEqual({
      code: 'config_invalid',
    });
  });
});

describe('a bad value refuses only what needs it', () => {
  test('a setting of every thread: told with its line; a request that gives its own goes on', async () => {
    const where = place({ 'config.toml': 'model = "m"\nsandbox_mode = "readonly"\n' });
    const heddle = await startHeddle(where);
    const { summary } = await warning(heddle);
    expect(summary).toContain(`${join(where.home, 'config.toml')}:2:`);
    expect(summary).toContain('sandbox_mode');
    expect(await heddle.refusal('thread/start', {})).toEqual({
      code: -32600,
      message: summary,
      data: { code: 'config_invalid' },
    });
    expect(
      (await heddle.request('thread/start', { config: { sandbox_mode: 'read-only' } })).sandbox
        .type,
    ).toBe('readOnly');
  });

  test('a provider: threads of others go on', async () => {
    const where = place({ 'config.toml': `${PROVIDER}wire_api = "telepathy"\n` });
    const heddle = await startHeddle(where);
    const { summary } = await warning(heddle);
    expect(summary).toContain(`${join(where.home, 'config.toml')}:3:`);
    expect(
      (await heddle.refusal('thread/start', { modelProvider: 'work', model: 'm' })).message,
    ).toBe(summary);
    expect((await heddle.request('thread/start', {})).modelProvider).toBe('embedded');
  });

  test('a provider that nothing defines: told by its name, with those there are', async () => {
    const heddle = await startHeddle(
      place({ 'config.toml': `model_provider = "wrok"\n${PROVIDER}` }),
    );
    const { message } = await heddle.refusal('thread/start', {});
    expect(message).toContain('wrok');
    expect(message).toContain('work');
    expect(
      (await heddle.request('thread/start', { modelProvider: 'embedded' })).modelProvider,
    ).toBe('embedded');
  });
});
