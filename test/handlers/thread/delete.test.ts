import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { type TestClient, text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  message,
  messageBegun,
  response,
  said,
} from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const UNKNOWN = idOf(999);

describe('thread/delete refuses', () => {
  test('unknown threads', async () => {
    const { client } = await startServer();
    expect([
      await client.refusal('thread/delete', { threadId: 'nope' }),
      await client.refusal('thread/delete', { threadId: UNKNOWN }),
    ]).toEqual([
      {
        code: -32600,
        message: 'invalid thread id: "nope" is not a UUID',
        data: { code: 'invalid_thread_id' },
      },
      {
        code: -32600,
        message: `no rollout found for thread id ${UNKNOWN}`,
        data: { code: 'thread_not_found', threadId: UNKNOWN },
      },
    ]);
    expect(client.notifications('thread/deleted')).toEqual([]);
  });

  test('a thread that another process has loaded', async () => {
    const first = await startServer();
    const { thread } = await threadWith(first, [['one', 'first']]);
    const second = await startServer({ folder: first.folder, pid: 4712 });
    expect(await second.client.refusal('thread/delete', { threadId: thread.id })).toEqual({
      code: -32600,
      message: `thread ${thread.id} already has an active writer (pid 4711)`,
      data: { code: 'active_writer', pid: 4711 },
    });
    await first.close();
    expect(await second.client.request('thread/delete', { threadId: thread.id })).toEqual({});
  });
});

test('a deleted thread is gone for good, and everyone is told once', async () => {
  const server = await startServer();
  const { client } = server;
  const other = await server.connect();
  const { thread } = await threadWith(server, [['one', 'first']]);
  const [before, othersBefore] = [client.messages.length, other.messages.length];
  expect(await client.request('thread/delete', { threadId: thread.id })).toEqual({});
  const deleted = { method: 'thread/deleted', params: { threadId: thread.id } };
  await client.waitFor('thread/deleted');
  await other.waitFor('thread/deleted');
  expect(client.messages.slice(before)).toEqual([
    { id: expect.any(Number), result: {} },
    {
      method: 'thread/status/changed',
      params: { threadId: thread.id, status: { type: 'notLoaded' } },
    },
    deleted,
  ]);
  expect(other.messages.slice(othersBefore)).toEqual([deleted]);

  const expectGone = async (each: TestClient) => {
    expect((await each.request('thread/list', {})).data).toEqual([]);
    for (const method of [
      'thread/read',
      'thread/resume',
      'thread/fork',
      'thread/archive',
      'thread/delete',
      'thread/turns/list',
    ]) {
      expect(await each.refusal(method, { threadId: thread.id })).toMatchObject({
        code: -32600,
        data: { code: 'thread_not_found' },
      });
    }
  };
  await expectGone(client);
  await expectGone((await server.restart()).client);
});

test('a running turn ends as interrupted, announced once and before the thread is deleted', async () => {
  const server = await startServer();
  const { client, model } = server;
  const gate = new Gate();
  model.push([...messageBegun('half'), gate]);
  const { thread } = await client.request('thread/start', {});
  const { turn } = await client.request('turn/start', { threadId: thread.id, input: text('go') });
  await client.waitFor('item/agentMessage/delta');
  const before = client.messages.length;
  await client.request('thread/delete', { threadId: thread.id });
  await client.waitFor('thread/deleted');
  expect(
    client.messages.slice(before).map(({ method, params }) => [method ?? 'answer', params]),
  ).toEqual([
    ['thread/status/changed', { threadId: thread.id, status: { type: 'idle' } }],
    [
      'turn/completed',
      {
        threadId: thread.id,
        turn: expect.objectContaining({ id: turn.id, status: 'interrupted' }),
      },
    ],
    ['answer', undefined],
    ['thread/status/changed', { threadId: thread.id, status: { type: 'notLoaded' } }],
    ['thread/deleted', { threadId: thread.id }],
  ]);
  expect((await client.request('thread/loaded/list', {})).data).toEqual([]);
});

test('if several clients delete a thread at once, one succeeds and the others are refused', async () => {
  const server = await startServer();
  const { client } = server;
  const other = await server.connect();
  const { thread } = await threadWith(server, [['one', 'first']]);
  const params = { threadId: thread.id };
  const answers = await Promise.all([
    client.ask('thread/delete', params),
    other.ask('thread/delete', params),
    client.ask('thread/archive', params),
    client.ask('turn/start', { ...params, input: text('x') }),
  ]);
  expect(answers.map(({ result, error }) => error?.data.code ?? result)).toEqual([
    {},
    'thread_not_found',
    'thread_not_found',
    'thread_not_found',
  ]);
  await other.waitFor('thread/deleted');
  expect(other.notifications('thread/deleted')).toHaveLength(1);
});

test('an archived thread, one that is not loaded, and an ephemeral one', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const { thread: second } = await threadWith(server, [['two', 'second']]);
  await server.client.request('thread/archive', { threadId: idOf(1) });
  const { client } = await server.restart();
  const { thread: fleeting } = await client.request('thread/start', { ephemeral: true });
  for (const threadId of [idOf(1), second.id, fleeting.id])
    expect(await client.request('thread/delete', { threadId })).toEqual({});
  expect((await client.request('thread/list', {})).data).toEqual([]);
  expect((await client.request('thread/list', { archived: true })).data).toEqual([]);
  expect((await client.request('thread/loaded/list', {})).data).toEqual([]);
  expect(await client.refusal('thread/read', { threadId: fleeting.id })).toMatchObject({
    data: { code: 'thread_not_found' },
  });
});

test('forks of a deleted thread keep the history, even after its data has been collected', async () => {
  const server = await startServer();
  const { client, model, clock } = server;
  const { thread, turns } = await threadWith(server, [['one', 'first']]);
  const { thread: fork } = await client.request('thread/fork', { threadId: thread.id });
  const { thread: fleeting } = await client.request('thread/fork', {
    threadId: thread.id,
    ephemeral: true,
  });
  await client.request('thread/delete', { threadId: thread.id });
  clock.advance(60_000);
  for (const threadId of [fork.id, fleeting.id]) {
    model.push(response(message('ok')));
    await client.turn(threadId, 'two');
    expect(conversation(model.requests.at(-1) ?? model.request(1))).toEqual([
      asked('one'),
      said('first'),
      asked('two'),
    ]);
    const read = await client.request('thread/read', { threadId, includeTurns: true });
    expect(read.thread.turns.slice(0, 1)).toEqual(turns);
  }
});

test('if the store fails, the thread stays without its running turn, and can be used', async () => {
  let full = true;
  const server = await startServer({
    wrapStore: (store) => {
      const deleteThread = (threadId: string) =>
        full
          ? Promise.reject(new StoreError('store_full', 'the disk is full'))
          : store.deleteThread(threadId);
      return new Proxy(store, {
        get: (target, key) =>
          key === 'deleteThread' ? deleteThread : Reflect.get(target, key).bind(target),
      });
    },
  });
  const { client, model } = server;
  const { thread } = await threadWith(server, [['one', 'first']]);
  model.push([...messageBegun('half'), new Gate()]);
  await client.request('turn/start', { threadId: thread.id, input: text('two') });
  await client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half');
  expect(await client.refusal('thread/delete', { threadId: thread.id })).toEqual({
    code: -32603,
    message: 'the disk is full',
    data: { code: 'store_full' },
  });
  model.push(response(message('third')));
  expect(await client.turn(thread.id, 'three')).toMatchObject({ status: 'completed' });
  expect(client.notifications('turn/completed').map(({ turn }) => turn.status)).toEqual([
    'completed',
    'interrupted',
    'completed',
  ]);
  full = false;
  expect(await client.request('thread/delete', { threadId: thread.id })).toEqual({});
});
