import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { text } from '../support/test-client.ts';
import { EXECUTABLE, environment, place, startHeddle } from './support.ts';

/** A place with a script in its working folder, and the command line that names it. */
function withScript(script: string, config = '') {
  const where = place(config === '' ? {} : { 'config.toml': config });
  writeFileSync(join(where.work, 'talk.yaml'), script);
  return { where, args: ['--model-script', 'talk.yaml'], file: join(where.work, 'talk.yaml') };
}

/** Its report is in the log's place, and no error. */
const reporting = { errorsLogged: true };

test('--model-script answers without configuration or key, and a run as the script has it ends with 0', async () => {
  const { where, args } = withScript('- Hello.\n- { match: { user: bye }, reply: Bye. }\n');
  const heddle = await startHeddle(where, { args });
  const { thread, model, modelProvider } = await heddle.request('thread/start', {});
  expect({ model, modelProvider }).toEqual({ model: 'scripted', modelProvider: 'scripted' });
  expect(await heddle.turn(thread.id, 'hi')).toMatchObject({
    status: 'completed',
    items: [{ text: 'Hello.' }],
  });
  expect(await heddle.turn(thread.id, 'bye')).toMatchObject({
    status: 'completed',
    items: [{ text: 'Bye.' }],
  });
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
  expect(heddle.stderr).toBe('');
  expect(heddle.messages.filter(({ method }) => method === 'configWarning')).toEqual([]);
});

test('it stands above the configuration, a key in the environment and the provider that a request names', async () => {
  const { where, args } = withScript('- one\n- two\n', 'model_provider = "none"\nmodel = "m"\n');
  const heddle = await startHeddle(where, {
    args: ['app-server', ...args],
    env: { OPENAI_API_KEY: 'sk-test' },
  });
  const first = await heddle.request('thread/start', {});
  expect(first).toMatchObject({ model: 'm', modelProvider: 'none' });
  const second = await heddle.request('thread/start', { modelProvider: 'openai' });
  expect(second).toMatchObject({ model: 'm', modelProvider: 'openai' });
  expect(await heddle.turn(first.thread.id, 'hi')).toMatchObject({ items: [{ text: 'one' }] });
  expect(await heddle.turn(second.thread.id, 'hi')).toMatchObject({ items: [{ text: 'two' }] });
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
});

test('a provider that nothing defines, or that is on this machine, needs neither definition nor answer', async () => {
  const { where, args } = withScript('- { reply: one, times: 3 }\n');
  const heddle = await startHeddle(where, { args });
  for (const modelProvider of ['foo', 'ollama']) {
    const started = await heddle.request('thread/start', { modelProvider });
    expect(started).toMatchObject({ model: 'scripted', modelProvider });
    await heddle.turn(started.thread.id, 'hi');
    const forked = await heddle.request('thread/fork', { threadId: started.thread.id });
    expect(forked.modelProvider).toBe(modelProvider);
    const resumed = await heddle.request('thread/resume', {
      threadId: started.thread.id,
      modelProvider: 'bar',
    });
    expect(resumed.modelProvider).toBe('bar');
  }
  expect(
    (await heddle.request('thread/start', { config: { model_provider: 'baz' } })).modelProvider,
  ).toBe('baz');
  const { thread } = await heddle.request('thread/start', {});
  expect(await heddle.turn(thread.id, 'hi')).toMatchObject({ items: [{ text: 'one' }] });
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
});

describe('a run that is not as the script has it ends with 1 and tells why', () => {
  test('a response that is left', async () => {
    const { where, args, file } = withScript(
      '- one\n- { match: { user: bye }, reply: Bye. }\n- { reply: maybe, optional: true }\n',
    );
    const heddle = await startHeddle(where, { args, ...reporting });
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'hi');
    expect(await heddle.finish()).toEqual({ code: 1, signal: null });
    expect(heddle.stderr).toBe(
      `heddle: the run did not follow ${file}\n1 response not used:\n  response 2 (line 2)\n    - user: text that contains "bye"\n`,
    );
  });

  test('a request without a response', async () => {
    const { where, args, file } = withScript(
      '- { match: { user: hello }, reply: a, optional: true }\n',
    );
    const heddle = await startHeddle(where, { args, ...reporting });
    const { thread } = await heddle.request('thread/start', {});
    expect(await heddle.turn(thread.id, 'hi')).toMatchObject({ status: 'failed' });
    expect(await heddle.finish()).toEqual({ code: 1, signal: null });
    expect(heddle.stderr).toMatch(
      /^\{"level":40,.*"msg":"no response in the model script matches a request"\}\n/,
    );
    expect(heddle.stderr.slice(heddle.stderr.indexOf('\n') + 1)).toBe(
      `heddle: the run did not follow ${file}
1 request without a response:
  request 1 (thread 1, turn 1).
    expected response 1 (line 1)
    - user: text that contains "hello"
    + user: "hi"
`,
    );
  });

  test('also where nothing was asked, and where a signal ends it', async () => {
    const { where, args } = withScript('- one');
    for (const end of ['input', 'signal']) {
      const heddle = await startHeddle(where, { args, ...reporting });
      if (end === 'signal') heddle.signal('SIGTERM');
      else heddle.input.end();
      expect(await heddle.exit).toEqual({ code: 1, signal: null });
    }
  });

  test('also of a provider with a script', async () => {
    const { where } = withScript(
      '',
      'model_provider = "p"\n[model_providers.p]\nscript = "talk.yaml"\n',
    );
    const file = join(where.home, 'talk.yaml');
    writeFileSync(file, '- one\n- two');
    const heddle = await startHeddle(where, reporting);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'hi');
    expect(await heddle.finish()).toEqual({ code: 1, signal: null });
    expect(heddle.stderr).toBe(
      `heddle: the run did not follow ${file}\n1 response not used:\n  response 2 (line 2)\n`,
    );
  });
});

test('a turn that hangs does not hold up the end', async () => {
  const { where, args } = withScript('- [Hm., { hang: true }]');
  const heddle = await startHeddle(where, { args });
  const { thread } = await heddle.request('thread/start', {});
  await heddle.request('turn/start', { threadId: thread.id, input: text('hi') });
  await heddle.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
});

test.each([
  [
    'a mistake',
    '- mesage: a\n',
    /^heddle: (.*):1:3: response 1: unknown key "mesage": expected one of message, .*\n$/,
  ],
  ['no YAML', '- "a\n', /^heddle: (.*):2:1: this is not valid YAML or JSON: .*\n$/],
  ['no file', null, /^heddle: (.*): the model script does not exist\n$/],
])(
  'a script that cannot be used, %s, is told before anything is served, and ends with 2',
  (_what, script, expected) => {
    const { where, args, file } = withScript(script ?? '');
    const command = script === null ? ['--model-script', `${file}x`] : args;
    const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...command], {
      cwd: where.work,
      env: environment(where),
      encoding: 'utf8',
      input: '',
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(expected);
    expect(expected.exec(stderr)?.[1]).toBe(script === null ? `${file}x` : file);
    expect(readdirSync(where.home)).toEqual([]);
  },
);
