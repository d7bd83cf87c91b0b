// @module-tag slow
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environment, place } from './support.ts';

const root = dirname(dirname(import.meta.dirname));
/** The program of a process that waits for a promise which nothing settles. */
const UNSETTLED = 13;
const BEGIN = `
  import { createAppServer } from 'heddle';
  import { PassThrough } from 'node:stream';
  const server = createAppServer({ home: process.env.HEDDLE_HOME, env: {}, overrides: process.argv.slice(1) });
  const client = server.connectClient();
  await client.initialize({ clientInfo: { name: 'test', version: '1.0.0' } });
  const { thread } = await client.request('thread/start');
  const turn = (input) => client.turn({ threadId: thread.id, input });
`;

/** A program that has a server of the package in its own process, and nothing else that would keep it alive. */
function run(code: string, overrides: string[] = []) {
  const args = ['--no-warnings', '--input-type=module', '-e', `${BEGIN}${code}`, '--', ...overrides];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env: environment(place()), encoding: 'utf8', timeout: 20_000 });
  return { status, stdout };
}

describe('a server in another program keeps it alive', () => {
  test('while a turn waits', () => {
    const code =
      "const { turn: { status }, text } = await turn('wait 300\\nsay done').result; console.log(status, text); await server.close();";
    expect(run(code)).toEqual({ status: 0, stdout: 'completed done\n' });
  });

  test('while a turn that nobody waits for runs', () => {
    const code = "client.on('turn/completed', ({ turn }) => console.log(turn.status)); await turn('wait 300').started;";
    expect(run(code)).toEqual({ status: 0, stdout: 'completed\n' });
  });

  test('while a provider that is gone is asked again', () => {
    const overrides = ['model_provider="w"', 'model="m"', 'model_providers.w.base_url="http://127.0.0.1:9/v1"'];
    const retries = ['model_providers.w.request_max_retries=2', 'model_providers.w.stream_max_retries=0'];
    const code = "console.log((await turn('go').result).turn.status); await server.close();";
    expect(run(code, [...overrides, ...retries])).toEqual({ status: 0, stdout: 'failed\n' });
  });

  test('while it closes, though a client does not read', () => {
    const code = `
      const input = new PassThrough();
      const over = server.connect({ input, output: new PassThrough({ highWaterMark: 1 }) });
      input.write('{"id":1,"method":"thread/list"}\\n{"id":2,"method":"thread/list"}\\n');
      await client.request('thread/list');
      await server.close();
      await over;
      console.log('closed');`;
    expect(run(code)).toEqual({ status: 0, stdout: 'closed\n' });
  });
});

describe('a server in another program does not keep it alive', () => {
  test('when nothing is asked of it', () => {
    expect(run("await turn('say done').result; console.log('over');")).toEqual({ status: 0, stdout: 'over\n' });
  });

  test('for what may never come', () => {
    expect(run("await client.notifications('turn/completed').next();")).toEqual({ status: UNSETTLED, stdout: '' });
  });
});
