// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXECUTABLE, environment, type Place, place } from './support.ts';

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

/**
 * A program that has a server of the package in its own process, and nothing else that would keep
 * it alive.
 */
function run(code: string, overrides: string[] = []) {
  const args = [
    '--no-warnings',
    '--input-type=module',
    '-e',
    `${BEGIN}${code}`,
    '--',
    ...overrides,
  ];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env: environment(place()),
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout };
}

describe('a server in another program keeps it alive', () => {
  test('while a turn waits', () => {
    const code =
      "const { turn: { status }, text } = await turn('wait 300\\nsay done').result; console.log(status, text); await server.close();";
    expect(run(code)).toEqual({ status: 0, stdout: 'completed done\n' });
  });

  test('while a turn that nobody waits for runs', () => {
    const code =
      "client.on('turn/completed', ({ turn }) => console.log(turn.status)); await turn('wait 300').started;";
    expect(run(code)).toEqual({ status: 0, stdout: 'completed\n' });
  });

  test('while a provider that is gone is asked again', () => {
    const overrides = [
      'model_provider="w"',
      'model="m"',
      'model_providers.w.base_url="http://127.0.0.1:9/v1"',
    ];
    const retries = [
      'model_providers.w.request_max_retries=2',
      'model_providers.w.stream_max_retries=0',
    ];
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
    expect(run("await turn('say done').result; console.log('over');")).toEqual({
      status: 0,
      stdout: 'over\n',
    });
  });

  test('for what may never come', () => {
    expect(run("await client.notifications('turn/completed').next();")).toEqual({
      status: UNSETTLED,
      stdout: '',
    });
  });
});

describe('a deterministic server', () => {
  /** Runs a program with the library, in the folders of a test. */
  function program(where: Place, code: string, input = '') {
    const args = ['--no-warnings', '--input-type=module', '-e', code];
    const env = { ...environment(where), WORK: where.work };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      env,
      encoding: 'utf8',
      input,
      timeout: 60_000,
    });
    return { status, stdout, stderr };
  }

  const command = (cmd: string, more = {}) =>
    `call exec_command ${JSON.stringify({ cmd, login: false, ...more })}`;

  test('writes the same bytes as heddle --deterministic', () => {
    const threadId = '019b76da-a800-7000-8000-000000000001';
    const turn = (id: number, ...lines: string[]) => ({
      id,
      method: 'turn/start',
      params: { threadId, input: [{ type: 'text', text: lines.join('\n') }] },
    });
    const settings = { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' };
    const messages = [
      { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1.0.0' } } },
      { id: 2, method: 'thread/start', params: settings },
      turn(
        3,
        'wait 5000',
        command('echo one; sleep 0.1; echo two'),
        command('touch made'),
        'say done',
      ),
      { id: 0, result: { decision: 'accept' } },
      { id: 1, result: { decision: 'decline' } },
      { id: 4, method: 'turn/interrupt', params: { threadId, turnId: 'none' } },
      turn(5, command('ls; sleep 0.05; echo listed'), 'fail rate_limit_exceeded'),
      { id: 6, method: 'thread/read', params: { threadId, includeTurns: true } },
    ];
    const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
    const where = place();
    const code = `
      import { createAppServer } from 'heddle';
      import { PassThrough } from 'node:stream';
      const server = createAppServer({ home: process.env.HEDDLE_HOME, cwd: process.env.WORK, deterministic: true });
      const output = new PassThrough();
      output.pipe(process.stdout);
      await server.connect({ input: process.stdin, output });
      await server.close();`;
    const found = program(where, code, input);
    rmSync(join(where.work, 'made'), { force: true });
    const options = {
      cwd: where.work,
      env: { ...environment(where), WORK: where.work },
      encoding: 'utf8',
      input,
    } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [EXECUTABLE, '--deterministic'],
      options,
    );
    expect(found).toEqual({ status, stdout, stderr });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').length).toBeGreaterThan(30);
    expect(readdirSync(where.temp)).toEqual([]);
  });

  test('gives all its clients the same messages in each run, whatever else the program does', () => {
    const code = `
      import { createAppServer, createScriptedModel } from 'heddle';
      import { createServer } from 'node:http';
      import { Worker } from 'node:worker_threads';
      const http = createServer().listen(0, '127.0.0.1');
      const worker = new Worker(new URL('data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});'));
      const model = createScriptedModel(\`
        - match: { user: slow }
          reply: [{ message: [A, B, C], delay: 600000 }]
        - match: { user: run, calls: 0 }
          reply: { call: exec_command, arguments: { cmd: "sleep 0.1; echo ran", login: false } }
        - match: { user: run }
          reply: It ran.
        - match: { user: hang }
          reply: [Begun., { hang: true }]\`);
      const server = createAppServer({ home: process.env.HEDDLE_HOME, cwd: process.env.WORK, env: {}, model, deterministic: true });
      const lines = [];
      const connect = async (name) => {
        const client = server.connectClient({ onMessage: ({ direction, line }) => lines.push(name + ' ' + direction + ' ' + line) });
        await client.initialize({ clientInfo: { name, version: '1.0.0' } });
        return client;
      };
      const [a, b] = [await connect('a'), await connect('b')];
      const { thread } = await a.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
      await b.request('thread/resume', { threadId: thread.id });
      const turns = [a.turn({ threadId: thread.id, input: 'slow' }), b.turn({ threadId: thread.id, input: 'run' })];
      for (const { result } of turns) await result;
      const hanging = a.turn({ threadId: thread.id, input: 'hang' });
      const { id: turnId } = await hanging.started;
      await b.request('turn/interrupt', { threadId: thread.id, turnId });
      lines.push((await hanging.result).turn.status);
      await a.close();
      await b.request('thread/read', { threadId: thread.id, includeTurns: true });
      await b.close();
      lines.push(JSON.stringify(await server.close()));
      http.close();
      await worker.terminate();
      console.log(lines.join('\\n'));`;
    const where = place();
    const first = program(where, code);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/\ninterrupted\n[\s\S]*\n\[\]\n$/);
    expect(first.stdout.split('\n').length).toBeGreaterThan(50);
    for (let run = 0; run < 3; run++) expect(program(where, code)).toEqual(first);
    expect(readdirSync(where.temp)).toEqual([]);
  });

  test('lets a client leave that has open requests, without a message of the others', () => {
    const code = `
      import { createAppServer } from 'heddle';
      const server = createAppServer({ home: process.env.HEDDLE_HOME, cwd: process.env.WORK, env: {}, deterministic: true });
      const received = { stays: [], leaves: [] };
      const connect = async (name) => {
        const client = server.connectClient({ onMessage: ({ direction, line }) => direction === 'received' && received[name].push(line) });
        await client.initialize({ clientInfo: { name, version: '1.0.0' } });
        return client;
      };
      const [stays, leaves] = [await connect('stays'), await connect('leaves')];
      const { thread } = await stays.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' });
      let answer;
      stays.handle('item/commandExecution/requestApproval', () => new Promise((resolve) => { answer = resolve; }));
      const asking = stays.turn({ threadId: thread.id, input: ${JSON.stringify(command('touch made'))} });
      await asking.started;
      const open = leaves.request('command/exec', { command: ['sleep', '60'], sandboxPolicy: { type: 'dangerFullAccess' } });
      const closed = leaves.close();
      const { exitCode } = await open;
      await closed;
      answer({ decision: 'accept' });
      const { turn } = await asking.result;
      await stays.close();
      await server.close();
      console.log(JSON.stringify({ exitCode, status: turn.status, received }));`;
    const where = place();
    const first = program(where, code);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toMatchObject({ exitCode: 137, status: 'completed' });
    expect(program(where, code)).toEqual(first);
  });
});
