import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { brief, START, threadOf } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  failed,
  message,
  messageBegun,
  response,
  said,
  USAGE,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith, withThreeTurns } from '../../support/thread-with.ts';

async function sayIn({ client, model }: TestServer, threadId: string, said: string) {
  const count = model.requests.length;
  model.push(response(message('ok')));
  await client.turn(threadId, said);
  return model.request(count + 1);
}

async function readBrief({ client }: Pick<TestServer, 'client'>, threadId: string) {
  const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
  return thread.turns.map(({ items }) => brief(items));
}

describe('thread/revert refuses', () => {
  test('unknown threads and turns, and archived threads', async () => {
    const { client, threadId, turnIds } = await withThreeTurns();
    const unknown = [
      await client.refusal('thread/revert', { threadId: 'nope', beforeTurnId: turnIds[0] }),
      await client.refusal('thread/revert', { threadId: idOf(999), beforeTurnId: turnIds[0] }),
      await client.refusal('thread/revert', { threadId, beforeTurnId: idOf(999) }),
      await client.refusal('thread/revert', { threadId }),
    ];
    await client.request('thread/archive', { threadId });
    expect([
      ...unknown,
      await client.refusal('thread/revert', { threadId, beforeTurnId: turnIds[0] }),
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
        message: `turn not found: ${idOf(999)}`,
        data: { code: 'turn_not_found', threadId, turnId: idOf(999) },
      },
      {
        code: -32600,
        message: expect.stringContaining('beforeTurnId'),
        data: { code: 'invalid_params' },
      },
      {
        code: -32600,
        message: `thread ${threadId} is archived: unarchive it first`,
        data: { code: 'thread_archived', threadId },
      },
    ]);
    expect(client.notifications('thread/reverted')).toEqual([]);
  });

  test('a thread that another process has loaded', async () => {
    const first = await withThreeTurns();
    const second = await startServer({ folder: first.folder, pid: 4712 });
    const params = { threadId: first.threadId, beforeTurnId: first.turnIds[1] };
    expect(await second.client.refusal('thread/revert', params)).toMatchObject({
      code: -32600,
      data: { code: 'active_writer', pid: 4711 },
    });
    await first.close();
    expect((await second.client.request('thread/revert', params)).thread.status).toEqual({
      type: 'notLoaded',
    });
    expect(await readBrief(second, first.threadId)).toEqual([['user: one', 'agent: first']]);
  });

  test('an unknown turn without ending the one that runs', async () => {
    const server = await withThreeTurns();
    const { client, model, threadId } = server;
    const gate = new Gate();
    model.push([...messageBegun('half'), gate, ...response(message('half and whole')).slice(3)]);
    const { turn } = await client.request('turn/start', { threadId, input: text('four') });
    await client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half');
    await client.refusal('thread/revert', { threadId, beforeTurnId: idOf(999) });
    gate.open();
    expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  });
});

test('it returns the thread and cursors for the turns that are left; then everyone is told, once', async () => {
  const server = await withThreeTurns();
  const { client, clock, threadId, turns, turnIds } = server;
  const other = await server.connect();
  const [before, othersBefore] = [client.messages.length, other.messages.length];
  clock.advance(7_000);
  const answer = await client.request('thread/revert', { threadId, beforeTurnId: turnIds[2] });
  expect(answer).toEqual({
    thread: threadOf(server, { id: threadId, preview: 'one', updatedAt: START + 7 }),
    turnsBackwardsCursor: expect.any(String),
    itemsBackwardsCursor: expect.any(String),
  });
  const reverted = { method: 'thread/reverted', params: { threadId } };
  await client.waitFor('thread/reverted');
  await other.waitFor('thread/reverted');
  expect(client.messages.slice(before + 1)).toEqual([reverted]);
  expect(other.messages.slice(othersBefore)).toEqual([reverted]);
  const page = {
    threadId,
    cursor: answer.turnsBackwardsCursor,
    sortDirection: 'desc' as const,
    itemsView: 'full' as const,
  };
  expect((await client.request('thread/turns/list', page)).data).toEqual(
    turns.slice(0, 2).reverse(),
  );
  const items = await client.request('thread/items/list', {
    threadId,
    cursor: answer.itemsBackwardsCursor,
    sortDirection: 'desc',
    limit: 1,
  });
  expect(items.data.map(({ item }) => brief([item]))).toEqual([['agent: second']]);
});

test('the thread goes on without the removed turns, for its clients and the model, now and after a restart', async () => {
  const server = await withThreeTurns();
  const { client, threadId, turnIds } = server;
  await client.request('thread/revert', { threadId, beforeTurnId: turnIds[1] });
  expect(conversation(await sayIn(server, threadId, 'other'))).toEqual([
    asked('one'),
    said('first'),
    asked('other'),
  ]);
  expect(await readBrief(server, threadId)).toEqual([
    ['user: one', 'agent: first'],
    ['user: other', 'agent: ok'],
  ]);
  const again = await server.restart();
  const { thread } = await again.client.request('thread/resume', { threadId });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([
    ['user: one', 'agent: first'],
    ['user: other', 'agent: ok'],
  ]);
  expect(conversation(await sayIn(again, threadId, 'on'))).toEqual([
    asked('one'),
    said('first'),
    asked('other'),
    said('ok'),
    asked('on'),
  ]);
});

test('reverted to before its first turn, the thread is as new, but listed: no preview, and the model gets the context again', async () => {
  const server = await withThreeTurns();
  const { client, model, threadId, turnIds } = server;
  const answer = await client.request('thread/revert', { threadId, beforeTurnId: turnIds[0] });
  expect(answer).toEqual({
    thread: threadOf(server, { id: threadId }),
    turnsBackwardsCursor: null,
    itemsBackwardsCursor: null,
  });
  expect(
    (await client.request('thread/list', {})).data.map(({ id, preview }) => [id, preview]),
  ).toEqual([[threadId, '']]);
  const request = await sayIn(server, threadId, 'begin');
  const who = { headers: expect.anything(), clientMetadata: expect.anything() };
  expect(request).toEqual({
    ...model.request(1),
    ...who,
    input: [...model.request(1).input.slice(0, -1), asked('begin')],
  });
  expect((await client.request('thread/list', {})).data.map(({ preview }) => preview)).toEqual([
    'begin',
  ]);
  const tokens = client.notifications('thread/tokenUsage/updated').at(-1);
  expect(tokens?.tokenUsage.total, 'counted anew').toEqual(USAGE);
});

test('the token count continues from the last turn that is left, also over a restart', async () => {
  const server = await withThreeTurns();
  const { client, threadId, turnIds } = server;
  await client.request('thread/revert', { threadId, beforeTurnId: turnIds[2] ?? '' });
  await sayIn(server, threadId, 'again');
  const total = client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage
    .total.totalTokens;
  expect(total).toBe(3 * USAGE.totalTokens);
  const fork = await client.request('thread/fork', { threadId, lastTurnId: turnIds[0] ?? '' });
  const { params } = await client.first(
    'tokens of the fork',
    ({ method, params: told }) =>
      method === 'thread/tokenUsage/updated' &&
      (told as { threadId: string }).threadId === fork.thread.id,
  );
  expect(params).toMatchObject({
    turnId: turnIds[0],
    tokenUsage: { total: { totalTokens: USAGE.totalTokens } },
  });
});

test.each([
  ['itself', 3, 3],
  ['an earlier one', 1, 1],
])(
  'a running turn ends as interrupted before the response, when the thread is reverted to before %s',
  async (_name, cut, left) => {
    const server = await withThreeTurns();
    const { client, model, threadId, turnIds } = server;
    model.push([...messageBegun('half'), new Gate()]);
    const { turn } = await client.request('turn/start', { threadId, input: text('four') });
    await client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half');
    const before = client.messages.length;
    const { thread } = await client.request('thread/revert', {
      threadId,
      beforeTurnId: [...turnIds, turn.id][cut] ?? '',
    });
    expect(thread.status).toEqual({ type: 'idle' });
    await client.waitFor('thread/reverted');
    expect(
      client.messages.slice(before).map(({ method, params }) => [method ?? 'answer', params]),
    ).toEqual([
      ['thread/status/changed', { threadId, status: { type: 'idle' } }],
      [
        'turn/completed',
        { threadId, turn: expect.objectContaining({ id: turn.id, status: 'interrupted' }) },
      ],
      ['answer', undefined],
      ['thread/reverted', { threadId }],
    ]);
    expect(await readBrief(server, threadId)).toHaveLength(left);
    const kept = [
      asked('one'),
      said('first'),
      asked('two'),
      said('second'),
      asked('three'),
      said('third'),
    ].slice(0, left * 2);
    expect(conversation(await sayIn(server, threadId, 'on'))).toEqual([...kept, asked('on')]);
  },
);

test('when the failed turn is removed, the thread is idle again, and its followers are told', async () => {
  const server = await startServer();
  const { client, model } = server;
  const { thread } = await threadWith(server, [['one', 'first']]);
  model.push([failed('no')]);
  const { id: beforeTurnId } = await client.turn(thread.id, 'two');
  const answer = await client.request('thread/revert', { threadId: thread.id, beforeTurnId });
  expect(answer.thread.status).toEqual({ type: 'idle' });
  await client.waitFor('thread/reverted');
  expect(
    client.messages.slice(-3).map(({ method, params }) => [method ?? 'answer', params]),
  ).toEqual([
    ['thread/status/changed', { threadId: thread.id, status: { type: 'idle' } }],
    ['answer', undefined],
    ['thread/reverted', { threadId: thread.id }],
  ]);
});

test('forks keep their turns, and a cursor into the removed turns is refused', async () => {
  const server = await withThreeTurns();
  const { client, threadId, turns, turnIds } = server;
  const { thread: fork } = await client.request('thread/fork', { threadId });
  const page = await client.request('thread/turns/list', { threadId, limit: 2 });
  await client.request('thread/revert', { threadId, beforeTurnId: turnIds[0] });
  await sayIn(server, threadId, 'other');
  expect(await client.refusal('thread/turns/list', { threadId, cursor: page.nextCursor })).toEqual({
    code: -32600,
    message: `invalid cursor: ${page.nextCursor}`,
    data: { code: 'invalid_cursor' },
  });
  expect(
    (await client.request('thread/read', { threadId: fork.id, includeTurns: true })).thread.turns,
  ).toEqual(turns);
  expect(
    (
      await client.request('thread/turns/list', { threadId: fork.id, cursor: page.nextCursor })
    ).data.map(({ id }) => id),
  ).toEqual([turnIds[0]]);
});

test('it works for an ephemeral thread too', async () => {
  const server = await startServer();
  const { thread, turns } = await threadWith(
    server,
    [
      ['one', 'first'],
      ['two', 'second'],
    ],
    { ephemeral: true },
  );
  await server.client.request('thread/revert', {
    threadId: thread.id,
    beforeTurnId: turns[1]?.id ?? '',
  });
  expect(conversation(await sayIn(server, thread.id, 'on'))).toEqual([
    asked('one'),
    said('first'),
    asked('on'),
  ]);
});

test('if the end of a turn could not be stored, the revert waits until it can be, so that it is not written after the cut', async () => {
  let full = false;
  const server = await withThreeTurns({
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (full && entries.some(({ kind }) => kind === 'turnEnded'))
          throw new StoreError('store_full', 'the disk is full');
      }),
  });
  const { client, model, threadId, turnIds } = server;
  full = true;
  model.push(response(message('fourth')));
  const { turn } = await client.request('turn/start', { threadId, input: text('four') });
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'failed' });
  const params = { threadId, beforeTurnId: turn.id };
  expect(await client.refusal('thread/revert', params)).toMatchObject({
    code: -32603,
    data: { code: 'store_full' },
  });
  full = false;
  await client.request('thread/revert', params);
  await sayIn(server, threadId, 'on');
  const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ id, status }) => [id, status]).slice(0, 3)).toEqual(
    turnIds.map((id) => [id, 'completed']),
  );
  expect(thread.turns).toHaveLength(4);
});
