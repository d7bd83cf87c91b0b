import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, START, threadOf, turnOf, userItem } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { message, messageBegun, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

test('thread/read refuses ids that are none, and unknown ones', async () => {
  const { client } = await startServer();
  expect([await client.refusal('thread/read', { threadId: 'nope' }), await client.refusal('thread/read', { threadId: idOf(9) })]).toEqual([
    { code: -32600, message: 'invalid thread id: "nope" is not a UUID', data: { code: 'invalid_thread_id' } },
    { code: -32600, message: `thread not found: ${idOf(9)}`, data: { code: 'thread_not_found', threadId: idOf(9) } },
  ]);
});

test('thread/read reads a thread without loading it, its turns only when asked', async () => {
  const server = await startServer();
  const { turns } = await threadWith(server, [['one', 'first']]);
  const { client } = await server.restart();
  const thread = threadOf(server, { id: idOf(1), preview: 'one', status: { type: 'notLoaded' } });
  expect(await client.request('thread/read', { threadId: idOf(1) })).toEqual({ thread, readState: null });
  expect(await client.request('thread/read', { threadId: idOf(1), includeTurns: true })).toEqual({
    thread: { ...thread, turns },
    readState: null,
  });
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
});

test('thread/read shows a turn that runs, with what has come so far', async () => {
  const gate = new Gate();
  const server = await startServer({ model: new TestModel(response(messageBegun('par'), [gate], message('partial').slice(2))) });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await server.client.waitFor('item/agentMessage/delta');
  server.clock.advance(1_000);
  const { thread } = await server.client.request('thread/read', { threadId: idOf(1), includeTurns: true });
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
          items: [userItem('hi'), agentItem('par')],
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

test('another server on the home reads what the first one wrote, also a turn that runs there', async () => {
  const gate = new Gate();
  const first = await startServer({ model: new TestModel(response(messageBegun('par'), [gate])) });
  await first.client.request('thread/start', {});
  await first.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await first.client.waitFor('item/agentMessage/delta');
  const second = await startServer({ folder: first.folder, pid: 4712 });
  const { thread } = await second.client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.status).toEqual({ type: 'notLoaded' });
  expect(thread.turns.map(({ status }) => status)).toEqual(['inProgress']);
  gate.open();
});

test('a long first message is cut in the preview, and later ones do not change it', async () => {
  const server = await startServer();
  await threadWith(server, [
    ['x'.repeat(10_000), 'first'],
    ['two', 'second'],
  ]);
  const { thread } = await server.client.request('thread/read', { threadId: idOf(1) });
  expect(thread.preview).toBe('x'.repeat(500));
});
