import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { brief } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { taken } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import { message, messageBegun, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const UNKNOWN = idOf(999);

describe('thread/archive refuses', () => {
  test('unknown, ephemeral and already archived threads', async () => {
    const server = await startServer();
    const { client } = server;
    await threadWith(server, [['one', 'first']]);
    await client.request('thread/archive', { threadId: idOf(1) });
    const { thread: fleeting } = await client.request('thread/start', { ephemeral: true });
    expect([
      await client.refusal('thread/archive', { threadId: 'nope' }),
      await client.refusal('thread/archive', { threadId: UNKNOWN }),
      await client.refusal('thread/archive', { threadId: idOf(1) }),
      await client.refusal('thread/archive', { threadId: fleeting.id }),
      await client.refusal('thread/archive', {}),
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
      {
        code: -32600,
        message: `thread ${idOf(1)} is archived: unarchive it first`,
        data: { code: 'thread_archived', threadId: idOf(1) },
      },
      {
        code: -32600,
        message: `thread ${fleeting.id} is ephemeral: it ends with the server and cannot be archived`,
        data: { code: 'thread_ephemeral', threadId: fleeting.id },
      },
      {
        code: -32600,
        message: expect.stringContaining('threadId'),
        data: { code: 'invalid_params' },
      },
    ]);
    expect(client.notifications('thread/archived')).toEqual([{ threadId: idOf(1) }]);
  });

  test('a thread that another process has loaded; its turn goes on', async () => {
    const gate = new Gate();
    const first = await startServer();
    first.model.push([
      ...messageBegun('half'),
      gate,
      ...response(message('half and whole')).slice(3),
    ]);
    const { thread } = await first.client.request('thread/start', {});
    const { turn } = await first.client.request('turn/start', {
      threadId: thread.id,
      input: text('go'),
    });
    await first.client.waitFor('item/agentMessage/delta');
    const second = await startServer({ folder: first.folder, pid: 4712 });
    expect(await second.client.refusal('thread/archive', { threadId: thread.id })).toEqual({
      code: -32600,
      message: `thread ${thread.id} already has an active writer (pid 4711)`,
      data: { code: 'active_writer', pid: 4711 },
    });
    gate.open();
    expect(await first.client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  });
});

test('archiving unloads the thread: after the response, its followers hear that, and everyone hears once that it is archived', async () => {
  const server = await startServer();
  const { client } = server;
  const other = await server.connect();
  const { thread } = await threadWith(server, [['one', 'first']]);
  const [before, othersBefore] = [client.messages.length, other.messages.length];
  expect(await client.request('thread/archive', { threadId: thread.id })).toEqual({});
  const archived = { method: 'thread/archived', params: { threadId: thread.id } };
  await client.waitFor('thread/archived');
  await other.waitFor('thread/archived');
  expect(client.messages.slice(before)).toEqual([
    { id: expect.any(Number), result: {} },
    {
      method: 'thread/status/changed',
      params: { threadId: thread.id, status: { type: 'notLoaded' } },
    },
    archived,
  ]);
  expect(other.messages.slice(othersBefore)).toEqual([archived]);
  expect((await client.request('thread/loaded/list', {})).data).toEqual([]);
  const ids = async (isArchived: boolean | null) =>
    (await client.request('thread/list', { archived: isArchived })).data.map(({ id, status }) => [
      id,
      status.type,
    ]);
  expect([await ids(null), await ids(false), await ids(true)]).toEqual([
    [],
    [],
    [[thread.id, 'notLoaded']],
  ]);
});

test('a running turn ends as interrupted, is announced once and before the thread is archived, and is stored so', async () => {
  const server = await startServer();
  const { client, model } = server;
  const { thread } = await threadWith(server, [['one', 'first']]);
  const gate = new Gate();
  model.push([...messageBegun('half'), gate]);
  const { turn } = await client.request('turn/start', { threadId: thread.id, input: text('two') });
  await client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half');
  const before = client.messages.length;
  await client.request('thread/archive', { threadId: thread.id });
  await client.waitFor('thread/archived');
  const told = client.messages
    .slice(before)
    .map(({ method, params }) => [method ?? 'answer', params]);
  expect(told).toEqual([
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
    ['thread/archived', { threadId: thread.id }],
  ]);
  const { turns } = (
    await client.request('thread/read', { threadId: thread.id, includeTurns: true })
  ).thread;
  expect(turns.map(({ status, items }) => [status, brief(items)])).toEqual([
    ['completed', ['user: one', 'agent: first']],
    ['interrupted', ['user: two', 'agent: half']],
  ]);
});

test('an archived thread can be read and forked, but takes no turn and cannot be resumed by id or path', async () => {
  const server = await startServer();
  const { client, model } = server;
  const { thread, turns } = await threadWith(server, [['one', 'first']]);
  await client.request('thread/archive', { threadId: thread.id });
  const archived = { code: -32600, data: { code: 'thread_archived', threadId: thread.id } };
  expect(await client.refusal('thread/resume', { threadId: thread.id })).toMatchObject(archived);
  expect(await client.refusal('thread/resume', { threadId: '', path: thread.path })).toMatchObject(
    archived,
  );
  expect(
    await client.refusal('turn/start', { threadId: thread.id, input: text('x') }),
  ).toMatchObject({
    data: { code: 'thread_not_found' },
  });
  const { thread: read } = await client.request('thread/read', {
    threadId: thread.id,
    includeTurns: true,
  });
  expect([read.status, read.turns]).toEqual([{ type: 'notLoaded' }, turns]);
  expect((await client.request('thread/turns/list', { threadId: thread.id })).data).toHaveLength(1);
  const { thread: fork } = await client.request('thread/fork', { threadId: thread.id });
  expect(fork.turns).toEqual(turns);
  model.push(response(message('in the fork')));
  expect(await client.turn(fork.id, 'two')).toMatchObject({ status: 'completed' });
  expect((await client.request('thread/list', {})).data.map(({ id }) => id)).toEqual([fork.id]);
});

test('clients that followed a thread before it was archived hear nothing of it after another client has unarchived it', async () => {
  const server = await startServer();
  const { client, model } = server;
  const { thread } = await threadWith(server, [['one', 'first']]);
  await client.request('thread/archive', { threadId: thread.id });
  const other = await server.connect();
  await other.request('thread/unarchive', { threadId: thread.id });
  await other.request('thread/resume', { threadId: thread.id });
  const before = client.notifications('turn/completed').length;
  model.push(response(message('second')));
  await other.turn(thread.id, 'two');
  await taken(client);
  expect(client.notifications('turn/completed')).toHaveLength(before);
});

test('a thread that is not loaded can be archived, also before its first turn, and stays archived after a restart', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  await server.client.request('thread/start', {});
  const { client, restart } = await server.restart();
  const { data } = await client.request('thread/list', {});
  await client.request('thread/archive', { threadId: data[0]?.id ?? '' });
  expect(client.notifications('thread/status/changed')).toEqual([]);
  const again = await restart();
  expect((await again.client.request('thread/list', {})).data).toEqual([]);
  expect((await again.client.request('thread/list', { archived: true })).data).toHaveLength(1);
});

test('if the store fails, the thread stays loaded and can be used', async () => {
  const server = await startServer({
    wrapStore: (store) => {
      const archiveThread = () => Promise.reject(new Error('no'));
      return new Proxy(store, {
        get: (target, key) =>
          key === 'archiveThread' ? archiveThread : Reflect.get(target, key).bind(target),
      });
    },
  });
  const { client, model, log } = server;
  const { thread } = await threadWith(server, [['one', 'first']]);
  expect(await client.refusal('thread/archive', { threadId: thread.id })).toMatchObject({
    code: -32603,
  });
  log.lines.length = 0;
  expect((await client.request('thread/loaded/list', {})).data).toEqual([thread.id]);
  model.push(response(message('second')));
  expect(await client.turn(thread.id, 'two')).toMatchObject({ status: 'completed' });
  expect(client.notifications('thread/archived')).toEqual([]);
});
