import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { START, threadOf } from '../../support/expected.ts';
import { asked, conversation, message, response, said } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

test('thread/unarchive refuses unknown threads and those that are not archived', async () => {
  const server = await startServer();
  const { client } = server;
  await threadWith(server, [['one', 'first']]);
  expect([
    await client.refusal('thread/unarchive', { threadId: 'nope' }),
    await client.refusal('thread/unarchive', { threadId: idOf(999) }),
    await client.refusal('thread/unarchive', { threadId: idOf(1) }),
  ]).toEqual([
    {
      code: -32600,
      message: 'invalid thread id: "nope" is not a UUID',
      data: { code: 'invalid_thread_id' },
    },
    {
      code: -32600,
      message: `thread not found: ${idOf(999)}`,
      data: { code: 'thread_not_found', threadId: idOf(999) },
    },
    {
      code: -32600,
      message: `thread ${idOf(1)} is not archived`,
      data: { code: 'thread_not_archived', threadId: idOf(1) },
    },
  ]);
  expect(client.notifications('thread/unarchived')).toEqual([]);
});

test('it returns the thread, updated now and not loaded, tells everyone, and the thread can go on', async () => {
  const server = await startServer();
  const { client, clock, model } = server;
  const other = await server.connect();
  const { thread } = await threadWith(server, [['one', 'first']]);
  await client.request('thread/archive', { threadId: thread.id });
  clock.advance(9_000);
  const before = client.messages.length;
  const answer = await client.request('thread/unarchive', { threadId: thread.id });
  const found = threadOf(server, {
    id: thread.id,
    preview: 'one',
    updatedAt: START + 9,
    status: { type: 'notLoaded' },
  });
  expect(answer).toEqual({ thread: found });
  await client.waitFor('thread/unarchived');
  expect(client.messages.slice(before + 1)).toEqual([
    { method: 'thread/unarchived', params: { threadId: thread.id } },
  ]);
  expect(await other.waitFor('thread/unarchived')).toEqual({ threadId: thread.id });
  expect((await client.request('thread/list', {})).data).toEqual([found]);
  expect((await client.request('thread/list', { archived: true })).data).toEqual([]);

  await client.request('thread/resume', { threadId: thread.id });
  model.push(response(message('second')));
  await client.turn(thread.id, 'two');
  expect(conversation(model.request(2))).toEqual([asked('one'), said('first'), asked('two')]);
});
