import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { START_MS } from '../../support/expected.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const at = { startedAtMs: START_MS, completedAtMs: START_MS };

async function withTwoTurns() {
  const server = await startServer();
  const { turns } = await threadWith(server, [
    ['one', 'first'],
    ['two', 'second'],
  ]);
  const entries = turns.flatMap(({ id, items }) => items.map((item) => ({ turnId: id, item, ...at })));
  const turnIds = turns.map(({ id }) => id) as [string, string];
  return { ...server, entries, turnIds };
}

test('thread/items/list refuses unknown threads and turns, and bad cursors', async () => {
  const { client } = await withTwoTurns();
  expect([
    await client.refusal('thread/items/list', { threadId: 'nope' }),
    await client.refusal('thread/items/list', { threadId: idOf(9) }),
    await client.refusal('thread/items/list', { threadId: idOf(1), turnId: idOf(9) }),
    await client.refusal('thread/items/list', { threadId: idOf(1), cursor: 'garbage' }),
    await client.refusal('thread/items/list', { threadId: idOf(1), cursor: { type: 'item', itemId: 'nobody' } }),
  ]).toEqual([
    { code: -32600, message: 'invalid thread id: "nope" is not a UUID', data: { code: 'invalid_thread_id' } },
    { code: -32600, message: `thread not found: ${idOf(9)}`, data: { code: 'thread_not_found', threadId: idOf(9) } },
    {
      code: -32600,
      message: `turn not found: ${idOf(9)}`,
      data: { code: 'turn_not_found', threadId: idOf(1), turnId: idOf(9) },
    },
    { code: -32600, message: 'invalid cursor: garbage', data: { code: 'invalid_cursor' } },
    { code: -32600, message: 'item not found: nobody', data: { code: 'item_not_found', threadId: idOf(1), itemId: 'nobody' } },
  ]);
});

test('thread/items/list gives the items with their turns and times, oldest first', async () => {
  const { client, entries } = await withTwoTurns();
  expect(await client.request('thread/items/list', { threadId: idOf(1) })).toEqual({
    data: entries,
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
});

test('thread/items/list in pages, both ways', async () => {
  const { client, entries } = await withTwoTurns();
  const list = (params: object) => client.request('thread/items/list', { threadId: idOf(1), ...params });
  const first = await list({ limit: 3 });
  expect(first.data).toEqual(entries.slice(0, 3));
  const second = await list({ limit: 3, cursor: first.nextCursor });
  expect(second).toEqual({ data: entries.slice(3), nextCursor: null, backwardsCursor: expect.any(String) });
  expect((await list({ cursor: second.backwardsCursor, sortDirection: 'desc' })).data).toEqual(entries.toReversed());
  expect((await list({ sortDirection: 'desc', limit: 1 })).data).toEqual(entries.slice(3));
});

test('thread/items/list of one turn', async () => {
  const { client, entries, turnIds } = await withTwoTurns();
  const list = (params: object) => client.request('thread/items/list', { threadId: idOf(1), ...params });
  expect((await list({ turnId: turnIds[1] })).data).toEqual(entries.slice(2));
  const first = await list({ turnId: turnIds[0], limit: 1 });
  expect(first.data).toEqual(entries.slice(0, 1));
  expect(await list({ turnId: turnIds[0], limit: 1, cursor: first.nextCursor })).toMatchObject({
    data: entries.slice(1, 2),
    nextCursor: null,
  });
});

test('thread/items/list can begin at an item', async () => {
  const { client, entries } = await withTwoTurns();
  const { data } = await client.request('thread/items/list', {
    threadId: idOf(1),
    cursor: { type: 'item', itemId: entries[2]?.item.id ?? '' },
  });
  expect(data).toEqual(entries.slice(2));
});
