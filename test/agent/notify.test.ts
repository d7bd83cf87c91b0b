import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const SCRIPT = 'printf "%s\\n" "$0" "$1" > "$OUT"; pwd >> "$OUT"';
const BASE =
  'model = "m"\nmodel_provider = "test"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
const notifying = (program: readonly string[]) => `notify = ${JSON.stringify(program)}\n${BASE}`;

const says = (...texts: string[]) => new TestModel(...texts.map((text) => response(message(text))));

describe('notify', () => {
  test('runs the program after a completed turn, with the turn as its last argument', async () => {
    const out = join(tempFolder(), 'out.txt');
    const server = await startServer({
      config: notifying(['/bin/sh', '-c', SCRIPT, 'name']),
      env: { OUT: out },
      model: says('done'),
    });
    const { thread } = await server.client.request('thread/start', {});
    const turn = await server.client.turn(thread.id, [
      { type: 'text', text: 'first', text_elements: [] },
      { type: 'text', text: 'second', text_elements: [] },
    ]);
    await server.close();
    const [name, argument = '', folderOfProgram] = readFileSync(out, 'utf8').split('\n');
    expect(name).toBe('name');
    expect(JSON.parse(argument)).toEqual({
      type: 'agent-turn-complete',
      'thread-id': thread.id,
      'turn-id': turn.id,
      cwd: server.cwd,
      client: 'heddle-test',
      'input-messages': ['first\nsecond'],
      'last-assistant-message': 'done',
    });
    expect(folderOfProgram).toBe(server.cwd);
  });

  test('does not run it after a turn that failed', async () => {
    const out = join(tempFolder(), 'out.txt');
    const server = await startServer({
      config: notifying(['/bin/sh', '-c', SCRIPT, 'name']),
      env: { OUT: out },
    });
    const { thread } = await server.client.request('thread/start', {});
    expect(await server.client.turn(thread.id, 'hi')).toMatchObject({ status: 'failed' });
    await server.close();
    expect(existsSync(out)).toBe(false);
  });

  test('a program that cannot be started is told once, and does not change the turn', async () => {
    const { client } = await startServer({
      config: notifying(['/no/such/program']),
      model: says('one', 'two'),
    });
    const { thread } = await client.request('thread/start', {});
    expect(await client.turn(thread.id, 'hi')).toMatchObject({ status: 'completed' });
    const { message } = await client.waitFor('warning');
    expect(message).toMatch(
      /^The program that notify names cannot be started: .*\/no\/such\/program.* Correct notify in config\.toml, or remove it\.$/,
    );
    expect(await client.turn(thread.id, 'again')).toMatchObject({ status: 'completed' });
    expect(client.notifications('warning')).toHaveLength(1);
  });

  test('a program that hangs is killed with the server, and an invalid setting changes no turn', async () => {
    const hanging = await startServer({
      config: notifying(['/bin/sleep', '1000']),
      model: says('one'),
    });
    const first = await hanging.client.request('thread/start', {});
    expect(await hanging.client.turn(first.thread.id, 'hi')).toMatchObject({ status: 'completed' });
    const closed = hanging.close();
    await hanging.clock.timerOf(1_000);
    hanging.clock.advance(1_000);
    await closed;
    const { client } = await startServer({ config: `notify = 5\n${BASE}`, model: says('one') });
    await client.waitFor('configWarning', ({ summary }) =>
      summary.includes('notify: expected a list of strings: a program and its arguments, found 5'),
    );
    const { thread } = await client.request('thread/start', {});
    expect(await client.turn(thread.id, 'hi')).toMatchObject({ status: 'completed' });
  });
});
