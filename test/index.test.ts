import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../src/client/connect.ts';
import { type AppServerOptions, createAppServer } from '../src/index.ts';
import { tempFolder } from './config/temp-folder.ts';
import { CountingIds, idOf } from './support/counting-ids.ts';
import { FakeClock } from './support/fake-clock.ts';
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

test('the model, the clock, the ids, the folder and the environment can be given', async () => {
  const model = new TestModel(response(message('Good day.')));
  const cwd = tempFolder();
  const log = new RecordingLog();
  const clock = new FakeClock();
  const { server } = start({ model, clock, ids: new CountingIds(), cwd, env: {}, log, overrides: ['model="mine"'] });
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const started = await client.request('thread/start');
  expect(started).toMatchObject({ model: 'mine', cwd, thread: { id: idOf(1), createdAt: Math.floor(clock.now() / 1000) } });
  const { text } = await client.turn({ threadId: idOf(1), input: 'Hello' }).result;
  expect(text).toBe('Good day.');
  expect(log.errors()).toEqual([]);
});

test('a transport that is given is connected at once, and others can be', async () => {
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

test('two clients of one server hear of the same thread', async () => {
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

test('the end of the server ends its clients, and whoever waits is told', async () => {
  const { server } = start({ model: new TestModel([new Gate(), ...response(message('never'))]) });
  const client = server.connectClient();
  await client.initialize({ clientInfo: CLIENT_INFO });
  const { thread } = await client.request('thread/start');
  const run = client.turn({ threadId: thread.id, input: 'Hello' });
  await run.started;
  await server.close();
  await client.closed;
  await expect(client.request('thread/list')).rejects.toThrow('thread/list: the server has ended the connection');
});

test('the end of a client leaves the server to others, and its home to the next server', async () => {
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
