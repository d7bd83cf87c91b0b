import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { ANY_ID, agentItem, timed, turnOf, userItem } from '../../support/expected.ts';
import { message, reasoning, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith, withTwoTurns } from '../../support/thread-with.ts';

const reasoningItem = timed({ type: 'reasoning', id: ANY_ID, summary: ['because'], content: [] });

/** A thread of three turns, the last with reasoning and two messages. */
async function withLongTurn() {
  const { turns, ...server } = await withTwoTurns();
  server.model.push(
    response(reasoning('because'), message('on it', { id: 'a' }), message('third', { id: 'b' })),
  );
  const { id } = await server.client.turn(idOf(1), 'three');
  const third = turnOf({
    id,
    items: [userItem('three'), reasoningItem, agentItem('on it'), agentItem('third')],
  });
  return { ...server, full: [...turns, third] };
}

describe('thread/turns/list refuses', () => {
  test('unknown threads, wrong params, and cursors that are invalid or of another list', async () => {
    const { client } = await withLongTurn();
    const { backwardsCursor } = await client.request('thread/items/list', { threadId: idOf(1) });
    expect([
      await client.refusal('thread/turns/list', { threadId: 'nope' }),
      await client.refusal('thread/turns/list', { threadId: idOf(9) }),
      await client.refusal('thread/turns/list', { threadId: idOf(1), itemsView: 'some' }),
      await client.refusal('thread/turns/list', { threadId: idOf(1), cursor: 'garbage' }),
      await client.refusal('thread/turns/list', { threadId: idOf(1), cursor: backwardsCursor }),
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
      {
        code: -32600,
        message: 'params.itemsView: "some" is none of "notLoaded", "summary", "full"',
        data: { code: 'invalid_params' },
      },
      { code: -32600, message: 'invalid cursor: garbage', data: { code: 'invalid_cursor' } },
      {
        code: -32600,
        message: `invalid cursor: ${backwardsCursor}`,
        data: { code: 'invalid_cursor' },
      },
    ]);
  });

  test('a cursor of another thread', async () => {
    const server = await withLongTurn();
    const { thread: other } = await threadWith(server, [['a', 'b']]);
    const { backwardsCursor: cursor } = await server.client.request('thread/turns/list', {
      threadId: other.id,
    });
    expect(
      await server.client.refusal('thread/turns/list', { threadId: idOf(1), cursor }),
    ).toMatchObject({
      data: { code: 'invalid_cursor' },
    });
  });
});

test('the three views: all items, the first user message with the last answer, and none', async () => {
  const { client, full } = await withLongTurn();
  const view = async (itemsView?: 'full' | 'summary' | 'notLoaded' | null) =>
    (
      await client.request('thread/turns/list', {
        threadId: idOf(1),
        sortDirection: 'asc',
        ...(itemsView === undefined ? {} : { itemsView }),
      })
    ).data;
  const summary = full.map(({ items, ...turn }) => ({
    ...turn,
    items: [items[0], items.at(-1)],
    itemsView: 'summary',
  }));
  expect(await view('full')).toEqual(full);
  expect(await view('summary')).toEqual(summary);
  expect(await view()).toEqual(summary);
  expect(await view(null)).toEqual(summary);
  expect(await view('notLoaded')).toEqual(
    full.map((turn) => ({ ...turn, items: [], itemsView: 'notLoaded' })),
  );
});

test('pages begin with the newest turn, and continue in both directions', async () => {
  const { client, full } = await withLongTurn();
  const list = (params: object) =>
    client.request('thread/turns/list', { threadId: idOf(1), itemsView: 'full', ...params });
  const newest = await list({ limit: 2 });
  expect(newest).toEqual({
    data: [full[2], full[1]],
    nextCursor: expect.any(String),
    backwardsCursor: expect.any(String),
  });
  expect(await list({ limit: 2, cursor: newest.nextCursor })).toEqual({
    data: [full[0]],
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
  expect((await list({ cursor: newest.backwardsCursor, sortDirection: 'asc' })).data).toEqual([
    full[2],
  ]);
  const oldest = await list({ limit: 2, sortDirection: 'asc' });
  expect(oldest.data).toEqual([full[0], full[1]]);
  expect((await list({ limit: 2, cursor: oldest.nextCursor, sortDirection: 'asc' })).data).toEqual([
    full[2],
  ]);
  expect((await list({ cursor: oldest.backwardsCursor, sortDirection: 'desc' })).data).toEqual([
    full[0],
  ]);
});

test('the list of a thread without turns is empty, and does not load the thread', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  const { client } = await server.restart();
  expect(await client.request('thread/turns/list', { threadId: idOf(1) })).toEqual({
    data: [],
    nextCursor: null,
    backwardsCursor: null,
  });
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
});
