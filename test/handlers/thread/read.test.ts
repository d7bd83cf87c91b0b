import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, START, START_MS, threadOf, turnOf, userItem } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  errorOf,
  failed,
  message,
  messageBegun,
  response,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

test('thread/read refuses invalid and unknown ids', async () => {
  const { client } = await startServer();
  expect([
    await client.refusal('thread/read', { threadId: 'nope' }),
    await client.refusal('thread/read', { threadId: idOf(9) }),
  ]).toEqual([
    {
      code: -32600,
      message: 'invalid thread id: "nope" is not a UUID',
      data: { code: 'invalid_thread_id' },
    },
    {
      code: -32600,
      message: `thread not found: ${idOf(9)}`,
      data: { code: 'thread_not_found', threadId: idOf(9) },
    },
  ]);
});

test('thread/read reads a thread without loading it, with its turns only if asked', async () => {
  const server = await startServer();
  const { turns } = await threadWith(server, [['one', 'first']]);
  const { client } = await server.restart();
  const thread = threadOf(server, { id: idOf(1), preview: 'one', status: { type: 'notLoaded' } });
  expect(await client.request('thread/read', { threadId: idOf(1) })).toEqual({
    thread,
    readState: null,
  });
  expect(await client.request('thread/read', { threadId: idOf(1), includeTurns: true })).toEqual({
    thread: { ...thread, turns },
    readState: null,
  });
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
});

test('thread/read shows a running turn with its items so far', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(response(messageBegun('par'), [gate], message('partial').slice(2))),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  server.clock.advance(1_000);
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread).toEqual(
    threadOf(server, {
      id: idOf(1),
      preview: 'hi',
      status: { type: 'active', activeFlags: [] },
      turns: [
        turnOf({
          id: turn.id,
          status: 'inProgress',
          completedAt: null,
          durationMs: null,
          items: [userItem('hi'), agentItem('par', { completedAtMs: null })],
        }),
      ],
    }),
  );
  gate.open();
  await server.client.turnCompleted(turn.id);
  expect((await server.client.request('thread/read', { threadId: idOf(1) })).thread).toEqual(
    threadOf(server, { id: idOf(1), preview: 'hi', updatedAt: START + 1 }),
  );
});

test('another server on the same home reads the thread of the first one, also a turn that runs there', async () => {
  const gate = new Gate();
  const first = await startServer({ model: new TestModel(response(messageBegun('par'), [gate])) });
  await first.client.request('thread/start', {});
  await first.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await first.client.waitFor('item/agentMessage/delta');
  const second = await startServer({ folder: first.folder, pid: 4712 });
  const { thread } = await second.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread.status).toEqual({ type: 'notLoaded' });
  expect(thread.turns.map(({ status }) => status)).toEqual(['inProgress']);
  gate.open();
});

test('the preview is the truncated first message, and later messages do not change it', async () => {
  const server = await startServer();
  await threadWith(server, [
    ['x'.repeat(10_000), 'first'],
    ['two', 'second'],
  ]);
  const { thread } = await server.client.request('thread/read', { threadId: idOf(1) });
  expect(thread.preview).toBe('x'.repeat(500));
});

describe('thread/read in every state', () => {
  async function read({ client }: Pick<TestServer, 'client'>) {
    return (await client.request('thread/read', { threadId: idOf(1), includeTurns: true })).thread;
  }

  test('idle: before its first turn, when it is not listed, and in memory only', async () => {
    const server = await startServer();
    await server.client.request('thread/start', {});
    expect(await read(server)).toEqual(threadOf(server, { id: idOf(1) }));
    const { thread } = await server.client.request('thread/start', { ephemeral: true });
    server.model.push(response(message('first')));
    const turn = await server.client.turn(thread.id, 'one');
    expect(
      (await server.client.request('thread/read', { threadId: thread.id, includeTurns: true }))
        .thread,
    ).toEqual(
      threadOf(server, {
        id: thread.id,
        ephemeral: true,
        path: null,
        preview: 'one',
        turns: [turnOf({ id: turn.id, items: [userItem('one'), agentItem('first')] })],
      }),
    );
  });

  test('systemError: a failed turn with its error and its partial message; notLoaded after a restart', async () => {
    const server = await startServer({
      model: new TestModel([{ type: 'started' }, ...messageBegun('par'), failed('out of order')]),
    });
    await server.client.request('thread/start', {});
    const { id } = await server.client.turn(idOf(1), 'one');
    const turn = turnOf({
      id,
      status: 'failed',
      error: errorOf('out of order'),
      items: [userItem('one'), agentItem('par')],
    });
    const expected = threadOf(server, {
      id: idOf(1),
      preview: 'one',
      status: { type: 'systemError' },
      turns: [turn],
    });
    expect(await read(server)).toEqual(expected);
    const next = await server.restart();
    expect(await read(next)).toEqual({
      ...expected,
      status: { type: 'notLoaded' },
      canAcceptDirectInput: null,
    });
    next.model.push(response(message('second')));
    await next.client.request('thread/resume', { threadId: idOf(1) });
    await next.client.turn(idOf(1), 'two');
    expect(await read(next)).toMatchObject({
      status: { type: 'idle' },
      turns: [turn, { status: 'completed', error: null }],
    });
  });

  test('interrupted: by a client, and by the end of the server', async () => {
    const server = await startServer({
      model: new TestModel(
        response(messageBegun('par'), [new Gate()]),
        response(messageBegun('sec', { id: 'msg_2' }), [new Gate()]),
      ),
    });
    await server.client.request('thread/start', {});
    const started = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await server.client.waitFor('item/agentMessage/delta');
    await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: started.turn.id });
    await server.client.turnCompleted(started.turn.id);
    const first = turnOf({
      id: started.turn.id,
      status: 'interrupted',
      items: [userItem('one'), agentItem('par')],
    });
    expect(await read(server)).toEqual(
      threadOf(server, { id: idOf(1), preview: 'one', turns: [first] }),
    );
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('two'),
    });
    await server.client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'sec');
    const next = await server.restart();
    const second = turnOf({
      id: turn.id,
      status: 'interrupted',
      items: [userItem('two'), agentItem('sec')],
    });
    expect(await read(next)).toEqual(
      threadOf(next, {
        id: idOf(1),
        preview: 'one',
        status: { type: 'notLoaded' },
        turns: [first, second],
      }),
    );
  });

  test('archived: its status is notLoaded', async () => {
    const server = await startServer();
    const { turns } = await threadWith(server, [['one', 'first']]);
    const next = await server.restart();
    await next.store.updateThread(idOf(1), { archivedAtMs: START_MS });
    expect(await read(next)).toEqual(
      threadOf(next, { id: idOf(1), preview: 'one', status: { type: 'notLoaded' }, turns }),
    );
  });
});
