import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

test('thread/name/set refuses an empty name and unknown threads', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  expect([
    await server.client.refusal('thread/name/set', { threadId: idOf(1), name: '  ' }),
    await server.client.refusal('thread/name/set', { threadId: idOf(1) }),
    await server.client.refusal('thread/name/set', { threadId: idOf(9), name: 'x' }),
  ]).toEqual([
    { code: -32600, message: 'thread name must not be empty', data: { code: 'empty_name' } },
    {
      code: -32600,
      message: 'params.name is missing: a string is expected',
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: `no rollout found for thread id ${idOf(9)}`,
      data: { code: 'thread_not_found', threadId: idOf(9) },
    },
  ]);
  expect(server.client.notifications('thread/name/updated')).toEqual([]);
});

test('thread/name/set refuses a name that is longer than 1,000 characters, and keeps the old name', async () => {
  const { client } = await startServer();
  await client.request('thread/start', {});
  const longest = 'é'.repeat(1_000);
  await client.request('thread/name/set', { threadId: idOf(1), name: ` ${longest} ` });
  expect(
    await client.refusal('thread/name/set', { threadId: idOf(1), name: `${longest}é` }),
  ).toEqual({
    code: -32600,
    message: 'thread name must be at most 1000 characters, not 1001',
    data: { code: 'name_too_long', maxChars: 1000, actualChars: 1001 },
  });
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread.name).toBe(longest);
});

test('thread/name/set answers, then tells every client; the name stays over a restart', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const other = await server.connect();
  expect(
    await server.client.request('thread/name/set', { threadId: idOf(1), name: '  Bug hunt ' }),
  ).toEqual({});
  for (const client of [server.client, other]) {
    expect(await client.waitFor('thread/name/updated')).toEqual({
      threadId: idOf(1),
      threadName: 'Bug hunt',
    });
  }
  expect(server.client.messages.slice(-2).map(({ id, method }) => method ?? typeof id)).toEqual([
    'number',
    'thread/name/updated',
  ]);
  expect((await server.client.request('thread/read', { threadId: idOf(1) })).thread.name).toBe(
    'Bug hunt',
  );
  const { client } = await server.restart();
  expect((await client.request('thread/list', {})).data.map(({ name }) => name)).toEqual([
    'Bug hunt',
  ]);
});

test('thread/name/set works on a thread that is not loaded, and does not load it', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const { client } = await server.restart();
  await client.request('thread/name/set', { threadId: idOf(1), name: 'Renamed' });
  await client.waitFor('thread/name/updated');
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread).toMatchObject({
    name: 'Renamed',
    status: { type: 'notLoaded' },
  });
  expect((await client.request('thread/resume', { threadId: idOf(1) })).thread.name).toBe(
    'Renamed',
  );
});
