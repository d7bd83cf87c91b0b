import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../src/client/connect.ts';
import { RequestError } from '../src/client/request-error.ts';
import { spawnServer } from '../src/client/spawn-server.ts';
import {
  type AppServer,
  type AppServerOptions,
  createAppServer,
  createScriptedModel,
  type ErrorCode,
  ScriptError,
  type StreamPair,
} from '../src/index.ts';
import { tempFolder, writeFiles } from './config/temp-folder.ts';
import { Gate } from './support/gate.ts';
import { RecordingLog } from './support/recording-log.ts';
import { CLIENT_INFO } from './support/test-client.ts';
import { message, response, TestModel } from './support/test-model.ts';

/** A server for the running test. */
function start(options: Partial<AppServerOptions> = {}) {
  const home = options.home ?? tempFolder();
  const server = createAppServer({ home, ...options });
  onTestFinished(async () => void (await server.close()));
  return { server, home };
}

test('a home is all that a server needs', async () => {
  const { server, home } = start();
  expect(existsSync(join(home, 'heddle.db'))).toBe(false);
  const client = server.connectClient();
  const { serverInfo } = await client.initialize({ clientInfo: CLIENT_INFO });
  expect(serverInfo).toEqual({ name: 'heddle', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  const { thread } = await client.request('thread/start');
  expect(realpathSync(thread.cwd)).toBe(realpathSync('.'));
  expect(existsSync(join(home, 'heddle.db'))).toBe(true);
});

test('a file of a trusted project is in force only with the content that the user trusts', async () => {
  const cwd = tempFolder({ '.codex/config.toml': 'model = "ours"\n' });
  const home = tempFolder({
    'config.toml': `[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`,
  });
  const model = new TestModel();
  const { server } = start({ home, cwd, model, env: {}, overrides: ['model_provider=test'] });
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const { config } = await client.request('config/read', {});
  writeFiles(cwd, { '.codex/config.toml': 'model = "theirs"\n' });
  const { config: changed } = await client.request('config/read', {});
  expect([config.model, changed.model]).toEqual(['ours', null]);
});

test('the model, the folder, the environment and the log are options', async () => {
  const model = new TestModel(response(message('Good day.')));
  const cwd = tempFolder();
  const log = new RecordingLog();
  const { server } = start({ model, cwd, env: {}, log, overrides: ['model="mine"'] });
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const { thread, ...started } = await client.request('thread/start');
  expect(started).toMatchObject({ model: 'mine', cwd });
  const { text } = await client.turn({ threadId: thread.id, input: 'Hello' }).result;
  expect(text).toBe('Good day.');
  expect(log.errors()).toEqual([]);
});

describe('overrides', () => {
  test.each<[string, AppServerOptions['overrides'] & {}]>([
    [
      'an object',
      {
        model: 'x',
        sandbox_mode: 'workspace-write',
        sandbox_workspace_write: { network_access: true },
      },
    ],
    [
      'an object with dotted keys',
      {
        model: 'x',
        sandbox_mode: 'workspace-write',
        'sandbox_workspace_write.network_access': true,
      },
    ],
    [
      'strings',
      ['model=x', 'sandbox_mode="workspace-write"', 'sandbox_workspace_write.network_access=true'],
    ],
  ])('can be %s', async (_form, overrides) => {
    const { server } = start({ env: {}, overrides });
    const client = server.connectClient();
    await client.initialize({ clientInfo: CLIENT_INFO });
    const { config, origins } = await client.request('config/read', {});
    expect(config).toMatchObject({
      model: 'x',
      sandbox_mode: 'workspace-write',
      sandbox_workspace_write: { network_access: true },
    });
    expect(origins.model?.name).toEqual({ type: 'sessionFlags' });
    expect((await client.request('thread/start')).sandbox).toMatchObject({
      type: 'workspaceWrite',
      networkAccess: true,
    });
  });

  test.each<[unknown, string]>([
    [{ sandbox_mode: 'writable' }, 'overrides sandbox_mode: '],
    [['sandbox_mode=writable'], 'overrides sandbox_mode: '],
    [
      { sandbox_workspace_write: { network_access: 'yes' } },
      'overrides sandbox_workspace_write.network_access: ',
    ],
    [{ '.model': 'x' }, 'overrides: ".model" is not a key'],
    [['config.toml'], 'overrides config.toml: expected key=value'],
    [
      { sandbox_workspace_write: { network_access: () => true } },
      'overrides sandbox_workspace_write.network_access: expected a value, found a function',
    ],
    ['model=x', 'overrides must be an object with settings, or an array of key=value strings'],
  ])('%j is refused in one line that names the setting', (overrides, problem) => {
    const options = { home: tempFolder(), overrides } as unknown as AppServerOptions;
    expect(() => createAppServer(options)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('\n') }),
    );
    expect(() => createAppServer(options)).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        message: expect.stringContaining(`createAppServer: ${problem}`),
      }),
    );
  });
});

describe('options that do not exist or are wrong are refused in one line', () => {
  const home = '/nowhere';
  const streams = { input: new PassThrough(), output: new PassThrough() };

  test.each<[string, (options: never) => unknown, object, string]>([
    [
      'createAppServer',
      createAppServer,
      { home, overides: [] },
      'createAppServer: unknown option "overides": did you mean overrides?',
    ],
    [
      'createAppServer',
      createAppServer,
      { home, clock: {} },
      'createAppServer: unknown option "clock": the options are home, cwd, env, overrides, transport, model, deterministic, log',
    ],
    ['createAppServer', createAppServer, {}, 'createAppServer: home must be the path of a folder'],
    [
      'createAppServer',
      createAppServer,
      { home, model: 'gpt-5' },
      "createAppServer: model must be an object with the method stream: to name the model of a provider, pass overrides: { model: 'gpt-5' }",
    ],
    [
      'createAppServer',
      createAppServer,
      { home, model: './refund.yaml' },
      'createAppServer: model must be an object with the method stream: ./refund.yaml looks like the path of a script, so pass ' +
        "createScriptedModel(readFileSync('./refund.yaml', 'utf8'))",
    ],
    [
      'connectClient',
      (options) => start().server.connectClient(options),
      { onmessage() {} },
      'connectClient: unknown option "onmessage": did you mean onMessage?',
    ],
    [
      'connect',
      connect,
      { ...streams, onSkiped() {} },
      'connect: unknown option "onSkiped": did you mean onSkipped?',
    ],
    [
      'spawnServer',
      spawnServer,
      { commands: 'x' },
      'spawnServer: unknown option "commands": did you mean command?',
    ],
    [
      'createScriptedModel',
      (options) => createScriptedModel('- Hi.', options),
      { clocks: 1 },
      'createScriptedModel: unknown option "clocks": did you mean clock?',
    ],
  ])('%s', (_name, create, options, problem) => {
    expect(() => create(options as never)).toThrow(new TypeError(problem));
  });

  test('a request and a turn', async () => {
    const client = start().server.connectClient();
    await client.initialize({ clientInfo: CLIENT_INFO });
    const options = { timeout: 5 } as object;
    await expect(client.request('thread/list', {}, options)).rejects.toThrow(
      new TypeError('thread/list: unknown option "timeout": did you mean timeoutMs?'),
    );
    expect(() => client.turn({ threadId: 'x', input: 'y' }, options)).toThrow(TypeError);
    expect(() => client.events({ thread: 'x' } as object)).toThrow(TypeError);
    expect(() => client.notifications('turn/started', { thread: 'x' } as object)).toThrow(
      TypeError,
    );
  });
});

test('the path of a script is no script', () => {
  for (const path of ['refund.yaml', './scripts/refund.yml', '/home/me/refund.json'])
    expect(() => createScriptedModel(path)).toThrow(
      `the model script: ${path} looks like the path of a script, not a script: pass the text of the file, readFileSync(path, 'utf8')`,
    );
});

test('a program that is missing is named, with the place where it was looked for', async () => {
  const client = spawnServer({ command: 'heddle-nowhere' });
  await expect(client.request('thread/list')).rejects.toThrow(
    /heddle-nowhere ENOENT: there is no such program, or it is not in the PATH/,
  );
});

test('a command with its arguments in one string is told from a program that is missing', async () => {
  const client = spawnServer({ command: 'heddle app-server' });
  await expect(client.request('thread/list')).rejects.toThrow(
    /ENOENT: `command` is one program, and its arguments belong in `args`/,
  );
});

test('the codes of errors are a union, so a wrong one does not compile', async () => {
  const client = start().server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const error = await client
    .request('thread/resume', { threadId: '/a/rollout.jsonl' })
    .catch((reason: unknown) => reason);
  if (!(error instanceof RequestError)) throw error;
  const meaning = (code: ErrorCode | undefined) => {
    switch (code) {
      case 'thread_not_found':
        return 'gone';
      case 'invalid_thread_id':
        return 'no id';
      // @ts-expect-error: no error has this code.
      case 'invalid_thraed_id':
        return 'never';
      default:
        return 'other';
    }
  };
  expect(meaning(error.data.code)).toBe('no id');
  expect(error.message).toBe(
    'invalid thread id: "/a/rollout.jsonl" is not a UUID: it looks like a path, which thread/resume and thread/fork take as `path`',
  );
});

test('a given transport is connected at once, and others later', async () => {
  const streams = [1, 2].map(() => ({ input: new PassThrough(), output: new PassThrough() }));
  const [first, second] = streams as [(typeof streams)[0], (typeof streams)[0]];
  const { server } = start({ transport: first });
  const over = server.connect(second);
  for (const { input, output } of streams) {
    const client = connect({ input: output, output: input });
    expect((await client.initialize({ clientInfo: CLIENT_INFO })).serverInfo.name).toBe('heddle');
  }
  second.input.end();
  await over;
});

test('two clients of one server get the notifications of one thread', async () => {
  const model = new TestModel(response(message('Good day.')));
  const { server } = start({ model });
  const clients = [server.connectClient(), server.connectClient()] as const;
  for (const client of clients) await client.initialize({ clientInfo: CLIENT_INFO });
  const { thread } = await clients[0].request('thread/start');
  await clients[1].request('thread/resume', { threadId: thread.id });
  const completed = clients[1].notifications('turn/completed', { threadId: thread.id });
  const { turn } = await clients[0].turn({ threadId: thread.id, input: 'Hello' }).result;
  expect((await completed.next()).value?.turn).toEqual(turn);
});

test('closing the server ends its clients and rejects their open requests', async () => {
  const { server } = start({ model: new TestModel([new Gate(), ...response(message('never'))]) });
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const { thread } = await client.request('thread/start');
  const run = client.turn({ threadId: thread.id, input: 'Hello' });
  await run.started;
  await server.close();
  await client.closed;
  await expect(client.request('thread/list')).rejects.toThrow(
    'thread/list: the server has ended the connection',
  );
});

describe('close()', () => {
  test.each<[string, (server: AppServer, client: StreamPair) => void]>([
    ['the option `transport`', () => {}],
    ['connect()', (server, client) => void server.connect(client)],
  ])('ends a client that came by %s', async (way, attach) => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const streams = { input: there, output: back };
    const { server } = start(way === 'connect()' ? {} : { transport: streams });
    attach(server, streams);
    const client = connect({ input: back, output: there });
    await client.initialize({ clientInfo: CLIENT_INFO });
    await server.close();
    await client.closed;
    await expect(client.request('thread/list')).rejects.toThrow(
      'thread/list: the server has ended the connection',
    );
  });

  test('resolves the promise of connect(), and a client that does not read gets its responses when it reads', async () => {
    const { server } = start();
    const input = new PassThrough();
    const output = new PassThrough({ highWaterMark: 1 });
    const over = server.connect({ input, output });
    const requests = [
      { id: 1, method: 'initialize', params: { clientInfo: CLIENT_INFO } },
      { id: 2, method: 'thread/loaded/list' },
    ];
    for (const request of requests) input.write(`${JSON.stringify(request)}\n`);
    await once(output, 'readable');
    await server.close();
    await over;
    const lines = (await output.setEncoding('utf8').toArray()).join('').trimEnd().split('\n');
    expect(lines.flatMap((line) => (JSON.parse(line) as { id?: number }).id ?? [])).toEqual([1, 2]);
  });

  test('is final: no client is accepted any more, and a second call does no harm', async () => {
    const { server } = start();
    const closed = server.close();
    expect(() => server.connectClient()).toThrow(new Error('the server is closed'));
    await expect(
      server.connect({ input: new PassThrough(), output: new PassThrough() }),
    ).rejects.toThrow(new Error('the server is closed'));
    expect(await closed).toEqual([]);
    expect(await server.close()).toEqual([]);
  });
});

test('a client that breaks its connection ends only that, and the server goes on', async () => {
  const { server } = start();
  const output = new PassThrough();
  const over = server.connect({ input: new PassThrough(), output });
  output.destroy(new Error('gone'));
  await over;
  expect(
    (await server.connectClient().initialize({ clientInfo: CLIENT_INFO })).serverInfo.name,
  ).toBe('heddle');
});

test('when a client has ended, the server serves others, and the next server can use its home', async () => {
  const { server, home } = start({ model: new TestModel(response(message('Good day.'))) });
  const first = server.connectClient();
  await first.initialize({ clientInfo: CLIENT_INFO });
  const { thread } = await first.request('thread/start');
  await first.turn({ threadId: thread.id, input: 'Hello' }).result;
  await first.close();
  await server.close();
  const next = start({ home }).server.connectClient();
  await next.initialize({ clientInfo: CLIENT_INFO });
  const resumed = await next.request('thread/resume', { threadId: thread.id });
  expect(resumed.thread.turns.map(({ status }) => status)).toEqual(['completed']);
});

test('a server that cannot be loaded refuses requests, and closing it ends its connections', async () => {
  const env = {
    get HOME(): string {
      throw new Error('no environment');
    },
  };
  const log = new RecordingLog();
  const server = createAppServer({ home: tempFolder(), env, log });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const over = server.connect({ input, output });
  const client = connect({ input: output, output: input });
  await client.initialize({ clientInfo: CLIENT_INFO });
  await expect(client.request('thread/list', {})).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining('no environment'),
  });
  await expect(server.close()).rejects.toThrow('no environment');
  await over;
  expect(output.writableEnded).toBe(true);
  expect(log.errors()).toHaveLength(2);
});

test('an invalid script throws an error with its problems', () => {
  const problem = { text: expect.any(String), place: expect.anything() };
  expect(() => createScriptedModel('responses: [{ nonsense: 1 }]')).toThrow(ScriptError);
  expect(() => createScriptedModel('responses: [{ nonsense: 1 }]')).toThrow(
    expect.objectContaining({ problems: [problem] }),
  );
});
