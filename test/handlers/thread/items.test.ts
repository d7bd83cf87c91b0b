import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, START_MS } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { message, messageBegun, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { withTwoTurns } from '../../support/thread-with.ts';

const at = { startedAtMs: START_MS, completedAtMs: START_MS };

async function withEntries() {
  const { turns, ...server } = await withTwoTurns();
  return {
    ...server,
    entries: turns.flatMap(({ id, items }) => items.map((item) => ({ turnId: id, item, ...at }))),
  };
}

test('thread/items/list refuses unknown threads and items, and bad cursors', async () => {
  const { client, entries, turnIds } = await withEntries();
  const elsewhere = entries[2]?.item.id ?? '';
  expect([
    await client.refusal('thread/items/list', { threadId: 'nope' }),
    await client.refusal('thread/items/list', { threadId: idOf(9) }),
    await client.refusal('thread/items/list', { threadId: idOf(1), cursor: 'garbage' }),
    await client.refusal('thread/items/list', {
      threadId: idOf(1),
      cursor: { type: 'item', itemId: 'nobody' },
    }),
    await client.refusal('thread/items/list', {
      threadId: idOf(1),
      turnId: turnIds[0],
      cursor: { type: 'item', itemId: elsewhere },
    }),
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
    { code: -32600, message: 'invalid cursor: garbage', data: { code: 'invalid_cursor' } },
    {
      code: -32600,
      message: 'item not found: nobody',
      data: { code: 'item_not_found', threadId: idOf(1), itemId: 'nobody' },
    },
    {
      code: -32600,
      message: `item not found: ${elsewhere}`,
      data: { code: 'item_not_found', threadId: idOf(1), itemId: elsewhere },
    },
  ]);
});

test('thread/items/list returns the items with their turns and times, oldest first', async () => {
  const { client, entries } = await withEntries();
  expect(await client.request('thread/items/list', { threadId: idOf(1) })).toEqual({
    data: entries,
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
});

test('thread/items/list in pages, both ways', async () => {
  const { client, entries } = await withEntries();
  const list = (params: object) =>
    client.request('thread/items/list', { threadId: idOf(1), ...params });
  const first = await list({ limit: 3 });
  expect(first.data).toEqual(entries.slice(0, 3));
  const second = await list({ limit: 3, cursor: first.nextCursor });
  expect(second).toEqual({
    data: entries.slice(3),
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
  expect((await list({ cursor: second.backwardsCursor, sortDirection: 'desc' })).data).toEqual(
    entries.toReversed(),
  );
  expect((await list({ sortDirection: 'desc', limit: 1 })).data).toEqual(entries.slice(3));
});

test('thread/items/list of one turn', async () => {
  const { client, entries, turnIds } = await withEntries();
  const list = (params: object) =>
    client.request('thread/items/list', { threadId: idOf(1), ...params });
  expect((await list({ turnId: turnIds[1] })).data).toEqual(entries.slice(2));
  const first = await list({ turnId: turnIds[0], limit: 1 });
  expect(first.data).toEqual(entries.slice(0, 1));
  expect(await list({ turnId: turnIds[0], limit: 1, cursor: first.nextCursor })).toMatchObject({
    data: entries.slice(1, 2),
    nextCursor: null,
  });
});

test('thread/items/list of a missing turn is empty', async () => {
  const { client } = await withEntries();
  for (const turnId of [idOf(9), 'zz']) {
    expect(await client.request('thread/items/list', { threadId: idOf(1), turnId })).toEqual({
      data: [],
      nextCursor: null,
      backwardsCursor: null,
    });
  }
});

test('thread/items/list can begin at an item', async () => {
  const { client, entries } = await withEntries();
  const { data } = await client.request('thread/items/list', {
    threadId: idOf(1),
    cursor: { type: 'item', itemId: entries[2]?.item.id ?? '' },
  });
  expect(data).toEqual(entries.slice(2));
});

describe('thread/items/read', () => {
  test('refuses no ids, too many, and unknown threads', async () => {
    const { client, turnIds } = await withEntries();
    const refused = (params: object) =>
      client.refusal('thread/items/read', {
        threadId: idOf(1),
        turnId: turnIds[0],
        itemIds: ['a'],
        ...params,
      });
    const range = {
      code: -32600,
      message: 'itemIds must contain 1 to 100 IDs',
      data: { code: 'invalid_params' },
    };
    expect([
      await refused({ itemIds: [] }),
      await refused({ itemIds: Array.from({ length: 101 }, (_, index) => `${index}`) }),
      await refused({ threadId: idOf(9) }),
      await refused({ turnId: undefined }),
    ]).toEqual([
      range,
      range,
      {
        code: -32600,
        message: `thread not found: ${idOf(9)}`,
        data: { code: 'thread_not_found', threadId: idOf(9) },
      },
      {
        code: -32600,
        message: 'params.turnId is missing: a string is expected',
        data: { code: 'invalid_params' },
      },
    ]);
  });

  test("gives those that the turn has, once each and in the turn's order, of a thread that is not loaded too", async () => {
    const server = await withEntries();
    const { entries, turnIds } = server;
    const [one, first, two] = entries.map(({ item }) => item.id) as [string, string, string];
    const { client } = await server.restart();
    const read = async (turnId: string, itemIds: string[]) =>
      (await client.request('thread/items/read', { threadId: idOf(1), turnId, itemIds })).data;
    expect(await read(turnIds[0], [first, 'nobody', one, first])).toEqual(entries.slice(0, 2));
    expect(await read(turnIds[1], [one, two])).toEqual([entries[2]]);
    expect(await read(turnIds[1], [one])).toEqual([]);
    expect(await read('unknown', [one])).toEqual([]);
    expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
  });

  test('finds the items of a fork, both shared ones and its own', async () => {
    const server = await withEntries();
    const { thread } = await server.client.request('thread/fork', {
      threadId: idOf(1),
      lastTurnId: server.turnIds[0],
    });
    server.model.push(response(message('third')));
    const turn = await server.client.turn(thread.id, 'three');
    const own = server.client
      .notifications('item/completed', ({ turnId }) => turnId === turn.id)
      .map(({ item }) => item);
    const read = async (turnId: string, itemIds: string[]) =>
      (
        await server.client.request('thread/items/read', { threadId: thread.id, turnId, itemIds })
      ).data.map(({ item }) => item);
    const all = [...server.entries.map(({ item }) => item.id), ...own.map(({ id }) => id)];
    expect(await read(server.turnIds[0], all)).toEqual(
      server.entries.slice(0, 2).map(({ item }) => item),
    );
    expect(await read(server.turnIds[1], all)).toEqual([]);
    expect(await read(turn.id, all)).toEqual(own);
  });

  test('returns the unfinished items of a running turn, as far as they are saved', async () => {
    const gate = new Gate();
    const server = await startServer({
      model: new TestModel(response(messageBegun('par'), [gate])),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('hi'),
    });
    const { itemId } = await server.client.waitFor('item/agentMessage/delta');
    server.clock.advance(1_000);
    const { data } = await server.client.request('thread/items/read', {
      threadId: idOf(1),
      turnId: turn.id,
      itemIds: [itemId],
    });
    expect(data).toEqual([
      {
        turnId: turn.id,
        item: agentItem('par', { id: itemId, completedAtMs: null }),
        startedAtMs: START_MS,
        completedAtMs: null,
      },
    ]);
    gate.open();
  });
});

describe('thread/turns/items/list', () => {
  test('refuses unknown threads and turns, and bad cursors', async () => {
    const { client, turnIds } = await withEntries();
    const refused = async (params: object) =>
      (
        await client.refusal('thread/turns/items/list', {
          threadId: idOf(1),
          turnId: turnIds[0],
          ...params,
        })
      ).data.code;
    expect([
      await refused({ threadId: idOf(9) }),
      await refused({ turnId: idOf(9) }),
      await refused({ cursor: 'garbage' }),
    ]).toEqual(['thread_not_found', 'turn_not_found', 'invalid_cursor']);
  });

  test("pages through a turn's items, both ways, of a thread that is not loaded too", async () => {
    const server = await withEntries();
    const { client } = await server.restart();
    const [one, first] = server.entries.map(({ item }) => item);
    const list = (params: object) =>
      client.request('thread/turns/items/list', {
        threadId: idOf(1),
        turnId: server.turnIds[0],
        ...params,
      });
    expect(await list({})).toEqual({
      data: [one, first],
      nextCursor: null,
      backwardsCursor: expect.any(String),
    });
    const page = await list({ limit: 1 });
    expect(page.data).toEqual([one]);
    const rest = await list({ limit: 1, cursor: page.nextCursor });
    expect(rest).toEqual({ data: [first], nextCursor: null, backwardsCursor: expect.any(String) });
    expect((await list({ sortDirection: 'desc', cursor: rest.backwardsCursor })).data).toEqual([
      first,
      one,
    ]);
    expect((await list({ sortDirection: 'desc', limit: 1 })).data).toEqual([first]);
  });
});
