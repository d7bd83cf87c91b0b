import { describe, expect, test } from 'vitest';
import type { ThreadResumeParams } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, brief } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { type Message, text } from '../../support/test-client.ts';
import { message, messageBegun, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const IDLE_MS = 30 * 60 * 1000;

test('thread/unsubscribe says whether the client followed the thread', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const unsubscribe = async (threadId: string) =>
    (await client.request('thread/unsubscribe', { threadId })).status;
  expect([
    await unsubscribe(thread.id),
    await unsubscribe(thread.id),
    await unsubscribe(idOf(9)),
  ]).toEqual(['unsubscribed', 'notSubscribed', 'notLoaded']);
});

test('after thread/unsubscribe during a turn, the client hears no more of the thread; the turn goes on', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(response(messageBegun('par'), [gate], message('partial').slice(2))),
  });
  const other = await server.connect();
  await server.client.request('thread/start', {});
  await other.request('thread/resume', { threadId: idOf(1) });
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  await server.client.request('thread/unsubscribe', { threadId: idOf(1) });
  const heard = server.client.messages.length;
  gate.open();
  expect(await other.turnCompleted(turn.id)).toMatchObject({ items: [agentItem('partial')] });
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([['user: hi', 'agent: partial']]);
  expect(server.client.messages.slice(heard).map(({ method }) => method)).toEqual([undefined]);
});

describe('a loaded thread that nobody follows', () => {
  async function unfollowed(): Promise<TestServer> {
    const server = await startServer();
    await threadWith(server, [['one', 'first']]);
    await server.client.request('thread/unsubscribe', { threadId: idOf(1) });
    await server.clock.timerOf(IDLE_MS);
    return server;
  }

  async function loaded({ client }: TestServer): Promise<string[]> {
    return (await client.request('thread/loaded/list', {})).data;
  }

  /** The messages that the client gets before the response to the resume. */
  async function heardBeforeResponse(
    { client }: TestServer,
    params: Partial<ThreadResumeParams>,
  ): Promise<Message[]> {
    // The notifications that follow an earlier response come before this one.
    await client.request('thread/loaded/list', {});
    const heard = client.messages.length;
    await client.request('thread/resume', { threadId: idOf(1), ...params });
    const messages = client.messages.slice(heard);
    return messages.slice(
      0,
      messages.findIndex(({ method }) => method === undefined),
    );
  }

  const status = (type: string) => ({
    method: 'thread/status/changed',
    params: { threadId: idOf(1), status: { type } },
  });
  const reloading: Partial<ThreadResumeParams>[] = [
    { config: {} },
    { config: { model_reasoning_effort: 'low' } },
    { developerInstructions: 'Be brief.' },
    { baseInstructions: 'Be brief.' },
    { personality: 'friendly' },
    { cwd: '/' },
    { model: 'other-model' },
    { approvalPolicy: 'never' },
    { sandbox: 'danger-full-access' },
    { serviceTier: 'flex' },
  ];
  test.each(reloading)(
    'is loaded again for a client that resumes it with other settings: %j',
    async (params) => {
      const server = await unfollowed();
      const other = await server.connect();
      const heard = other.messages.length;
      expect(await heardBeforeResponse(server, params)).toMatchObject([
        status('notLoaded'),
        status('idle'),
      ]);
      expect(await heardBeforeResponse(server, params)).toEqual([]);
      await other.request('thread/loaded/list', {});
      expect(other.messages.slice(heard).map(({ method }) => method)).toEqual([undefined]);
    },
  );

  test('is only followed if a client resumes it with its own settings', async () => {
    const server = await unfollowed();
    const { client } = server;
    const { cwd, model, approvalPolicy } = await client.request('thread/resume', {
      threadId: idOf(1),
    });
    await client.request('thread/unsubscribe', { threadId: idOf(1) });
    expect(
      await heardBeforeResponse(server, {
        cwd,
        model,
        approvalPolicy,
        developerInstructions: null,
        excludeTurns: true,
      }),
    ).toEqual([]);
  });

  test('is unloaded after 30 idle minutes, and everyone is told', async () => {
    const server = await unfollowed();
    const other = await server.connect();
    server.clock.advance(IDLE_MS - 1);
    expect(await loaded(server)).toEqual([idOf(1)]);
    server.clock.advance(1);
    for (const client of [server.client, other])
      expect(await client.waitFor('thread/closed')).toEqual({ threadId: idOf(1) });
    expect(await loaded(server)).toEqual([]);
    expect(
      await server.client.refusal('turn/start', { threadId: idOf(1), input: text('hi') }),
    ).toEqual({
      code: -32600,
      message: `thread not found: ${idOf(1)}`,
      data: { code: 'thread_not_found', threadId: idOf(1) },
    });
  });

  test('can be resumed after that, by another server too', async () => {
    const server = await unfollowed();
    server.clock.advance(IDLE_MS);
    await server.client.waitFor('thread/closed');
    const second = await startServer({ folder: server.folder, pid: 4712 });
    expect(
      (await second.client.request('thread/resume', { threadId: idOf(1) })).thread.turns,
    ).toHaveLength(1);
    await second.close();
    expect(
      (await server.client.request('thread/resume', { threadId: idOf(1) })).thread.turns,
    ).toHaveLength(1);
  });

  test('stays loaded if a client follows it again', async () => {
    const server = await unfollowed();
    await server.client.request('thread/resume', { threadId: idOf(1) });
    server.clock.advance(IDLE_MS);
    expect(await loaded(server)).toEqual([idOf(1)]);
    expect(server.client.notifications('thread/closed')).toEqual([]);
  });

  test('stays loaded while a turn runs, and counts as idle only after its end', async () => {
    const gate = new Gate();
    const server = await startServer({ model: new TestModel(response([gate], message('ok'))) });
    await server.client.request('thread/start', {});
    await server.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
    await server.model.asked(1);
    await server.client.request('thread/unsubscribe', { threadId: idOf(1) });
    server.clock.advance(2 * IDLE_MS);
    expect(await loaded(server)).toEqual([idOf(1)]);
    gate.open();
    await server.clock.timerOf(IDLE_MS);
    server.clock.advance(IDLE_MS);
    await server.client.waitFor('thread/closed');
    expect(await loaded(server)).toEqual([]);
  });

  test('is unloaded too if its client is gone', async () => {
    const server = await startServer();
    const other = await server.connect();
    await other.request('thread/start', {});
    await other.close();
    await server.clock.timerOf(IDLE_MS);
    server.clock.advance(IDLE_MS);
    expect(await server.client.waitFor('thread/closed')).toEqual({ threadId: idOf(1) });
  });
});

test('a turn goes on when the client that started it is gone', async () => {
  const gate = new Gate();
  const server = await startServer({ model: new TestModel(response([gate], message('ok'))) });
  const other = await server.connect();
  await other.request('thread/start', {});
  const { turn } = await other.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await server.model.asked(1);
  await other.close();
  await server.client.request('thread/resume', { threadId: idOf(1) });
  gate.open();
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({
    status: 'completed',
    items: [agentItem('ok')],
  });
});

test('thread/unsubscribe refuses an invalid thread id; an unknown thread is notLoaded', async () => {
  const { client } = await startServer();
  expect(await client.refusal('thread/unsubscribe', { threadId: 'zz' })).toEqual({
    code: -32600,
    message: 'invalid thread id: "zz" is not a UUID',
    data: { code: 'invalid_thread_id' },
  });
  expect(await client.request('thread/unsubscribe', { threadId: idOf(9) })).toEqual({
    status: 'notLoaded',
  });
});
