import { describe, expect, test } from 'vitest';
import type { ThreadGoal } from '../../../src/protocol/generated/types.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { START } from '../../support/expected.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { message, response } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith, withThread } from '../../support/thread-with.ts';

const PAUSED = { threadId: idOf(1), objective: 'all green', status: 'paused' } as const;

function goalOf(given: Partial<ThreadGoal> = {}): ThreadGoal {
  return {
    threadId: idOf(1),
    objective: 'all green',
    status: 'paused',
    tokenBudget: null,
    tokensUsed: 0,
    timeUsedSeconds: 0,
    createdAt: START,
    updatedAt: START,
    ...given,
  };
}

test('a thread that is reverted to its beginning has the preview of its goal', async () => {
  const server = await startServer();
  const { thread } = await threadWith(server, [['first', 'done']]);
  const { client } = server;
  await client.request('thread/goal/set', { ...PAUSED, threadId: thread.id });
  const { data } = await client.request('thread/turns/list', { threadId: thread.id });
  const beforeTurnId = data[0]?.id ?? '';
  const reverted = await client.request('thread/revert', { threadId: thread.id, beforeTurnId });
  expect(reverted.thread.preview).toBe('all green');
});

describe('thread/goal/set refuses', () => {
  test('an invalid objective, budget or status, and a change without a goal', async () => {
    const { client } = await withThread();
    const refusals = [];
    for (const wrong of [
      { objective: '' },
      { objective: ' \n ' },
      { objective: 'é'.repeat(4001) },
      { objective: 'x', tokenBudget: 0 },
      { objective: 'x', tokenBudget: -1 },
      { objective: 'x', tokenBudget: 1.5 },
      { objective: 'x', tokenBudget: 2 ** 53 },
      { objective: 'x', status: 'done' },
      { objective: 5 },
      { status: 'paused' },
      { tokenBudget: 5 },
      { objective: null },
      {},
    ]) {
      const { code, data } = await client.refusal('thread/goal/set', {
        threadId: idOf(1),
        ...wrong,
      });
      refusals.push([code, data.code]);
    }
    expect(refusals).toEqual([
      [-32600, 'empty_objective'],
      [-32600, 'empty_objective'],
      [-32600, 'objective_too_long'],
      [-32600, 'invalid_token_budget'],
      [-32600, 'invalid_token_budget'],
      [-32600, 'invalid_params'],
      [-32600, 'invalid_token_budget'],
      [-32600, 'invalid_params'],
      [-32600, 'invalid_params'],
      [-32600, 'goal_not_found'],
      [-32600, 'goal_not_found'],
      [-32600, 'goal_not_found'],
      [-32600, 'goal_not_found'],
    ]);
    expect(await client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({ goal: null });
    expect(client.notifications('thread/goal/updated')).toEqual([]);
  });

  test('with a message that says what to do', async () => {
    const { client } = await withThread();
    const text = async (change: object) =>
      (await client.refusal('thread/goal/set', { threadId: idOf(1), ...change })).message;
    expect([
      await text({ objective: ' ' }),
      await text({ objective: 'x'.repeat(4001) }),
      await text({ objective: 'x', tokenBudget: 0 }),
      await text({ status: 'active' }),
    ]).toEqual([
      'goal objective must not be empty',
      'goal objective must be at most 4000 characters, not 4001',
      'goal token budget must be positive, or null for no budget',
      `cannot update the goal of thread ${idOf(1)}: no goal exists, and no objective was given`,
    ]);
  });

  test('a goal that cannot be stored, and keeps the old one', async () => {
    let full = false;
    const server = await withThread({
      wrapStore: (store) =>
        gatedStore(store, () => {
          if (full) throw new StoreError('store_full', 'the disk is full');
        }),
    });
    await server.client.request('thread/goal/set', PAUSED);
    await server.client.waitFor('thread/goal/updated');
    full = true;
    const change = { threadId: idOf(1), objective: 'another' };
    expect(await server.client.refusal('thread/goal/set', change)).toMatchObject({
      code: -32603,
      data: { code: 'store_full' },
    });
    expect(await server.client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
      goal: goalOf(),
    });
    expect(server.client.notifications('thread/goal/updated')).toHaveLength(1);
  });
});

describe('all three methods refuse', () => {
  const METHODS = ['thread/goal/set', 'thread/goal/get', 'thread/goal/clear'];

  async function refusals({ client }: TestServer, threadId: string) {
    return Promise.all(
      METHODS.map(
        async (method) => (await client.refusal(method, { threadId, objective: 'x' })).data.code,
      ),
    );
  }

  test('unknown threads', async () => {
    const server = await withThread();
    expect(await refusals(server, idOf(9))).toEqual([
      'thread_not_found',
      'thread_not_found',
      'thread_not_found',
    ]);
    expect(await refusals(server, 'zz')).toEqual([
      'invalid_thread_id',
      'invalid_thread_id',
      'invalid_thread_id',
    ]);
  });

  test('ephemeral threads', async () => {
    const server = await startServer();
    await server.client.request('thread/start', { ephemeral: true });
    expect(await refusals(server, idOf(1))).toEqual([
      'thread_ephemeral',
      'thread_ephemeral',
      'thread_ephemeral',
    ]);
  });

  test('if the configuration switches goals off, for loaded threads and others', async () => {
    const server = await withThread({ overrides: ['features.goals=false'] });
    const disabled = ['goals_disabled', 'goals_disabled', 'goals_disabled'];
    expect(await refusals(server, idOf(1))).toEqual(disabled);
    expect(
      await refusals(await server.restart({ overrides: ['features.goals=false'] }), idOf(1)),
    ).toEqual(disabled);
  });
});

describe('thread/goal/set', () => {
  test('returns the goal, then tells the followers of the thread, and each client that resumes it', async () => {
    const server = await withThread();
    const other = await server.connect();
    await other.request('thread/resume', { threadId: idOf(1) });
    const stranger = await server.connect();
    const change = {
      ...PAUSED,
      objective: '  all green\n',
      tokenBudget: 900,
      origin: 'user',
    } as const;
    const goal = goalOf({ tokenBudget: 900 });
    expect(await server.client.request('thread/goal/set', change)).toEqual({ goal });
    for (const client of [server.client, other]) {
      expect(await client.waitFor('thread/goal/updated')).toEqual({
        threadId: idOf(1),
        turnId: null,
        goal,
      });
    }
    expect(server.client.messages.slice(-2).map(({ id, method }) => method ?? typeof id)).toEqual([
      'number',
      'thread/goal/updated',
    ]);
    await stranger.request('thread/resume', { threadId: idOf(1) });
    expect(await stranger.waitFor('thread/goal/updated')).toEqual({
      threadId: idOf(1),
      turnId: null,
      goal,
    });
    expect(stranger.notifications('thread/goal/cleared')).toEqual([]);
  });

  test('changes the named fields and keeps the others; a budget of null means no budget', async () => {
    const { client, clock } = await withThread();
    await client.request('thread/goal/set', { ...PAUSED, tokenBudget: 900 });
    clock.advance(2_000);
    const set = async (change: object) =>
      (await client.call('thread/goal/set', { threadId: idOf(1), ...change })) as {
        goal: ThreadGoal;
      };
    const later = { updatedAt: START + 2 };
    expect(await set({ status: 'blocked' })).toEqual({
      goal: goalOf({ status: 'blocked', tokenBudget: 900, ...later }),
    });
    expect(await set({ objective: 'and fast' })).toEqual({
      goal: goalOf({ objective: 'and fast', status: 'blocked', tokenBudget: 900, ...later }),
    });
    expect(await set({ tokenBudget: 7 })).toEqual({
      goal: goalOf({ objective: 'and fast', status: 'blocked', tokenBudget: 7, ...later }),
    });
    const last = goalOf({ objective: 'and fast', status: 'blocked', ...later });
    expect(await set({ objective: null, status: null, tokenBudget: null })).toEqual({ goal: last });
    expect(await client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({ goal: last });
  });

  test('accepts every status, and 4,000 characters of any script', async () => {
    const { client } = await withThread();
    const objective = '𝄞'.repeat(4000);
    for (const status of [
      'paused',
      'blocked',
      'usageLimited',
      'budgetLimited',
      'complete',
    ] as const) {
      expect(
        await client.request('thread/goal/set', { threadId: idOf(1), objective, status }),
      ).toEqual({
        goal: goalOf({ objective, status }),
      });
    }
  });

  test('sets the preview of a thread that has no message yet, and of no other', async () => {
    const server = await withThread();
    await server.client.request('thread/goal/set', PAUSED);
    server.model.push(response(message('ok')));
    await server.client.turn(idOf(1), 'hello');
    expect(
      (await server.client.request('thread/list', {})).data.map(({ preview }) => preview),
    ).toEqual(['all green']);
    await server.client.request('thread/goal/set', { ...PAUSED, objective: 'else' });
    expect((await server.client.request('thread/read', { threadId: idOf(1) })).thread.preview).toBe(
      'all green',
    );
  });

  test('works on a thread that is not loaded, does not load it, and the goal is kept over restarts', async () => {
    const first = await withThread();
    const server = await first.restart();
    expect(await server.client.request('thread/goal/set', { ...PAUSED, status: 'active' })).toEqual(
      { goal: goalOf({ status: 'active' }) },
    );
    expect(await server.client.waitFor('thread/goal/updated')).toEqual({
      threadId: idOf(1),
      turnId: null,
      goal: goalOf({ status: 'active' }),
    });
    expect(
      (await server.client.request('thread/read', { threadId: idOf(1) })).thread.status,
    ).toEqual({ type: 'notLoaded' });
    const { client, model } = await server.restart();
    expect(await client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
      goal: goalOf({ status: 'active' }),
    });
    expect(model.requests).toEqual([]);
  });

  test('is refused while another server has the thread loaded, and works afterwards', async () => {
    const server = await withThread();
    const second = await startServer({ folder: server.folder, pid: 4712 });
    const refusal = await second.client.refusal('thread/goal/set', PAUSED);
    expect(refusal).toMatchObject({ code: -32600, data: { code: 'active_writer' } });
    expect(await second.client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
      goal: null,
    });
    await server.close();
    expect(await second.client.request('thread/goal/set', PAUSED)).toEqual({ goal: goalOf() });
  });

  test('is refused for an archived thread, as is clear; get works', async () => {
    const server = await withThread();
    await server.client.request('thread/goal/set', PAUSED);
    const { client, store } = await server.restart();
    await store.updateThread(idOf(1), { archivedAtMs: 1 });
    for (const method of ['thread/goal/set', 'thread/goal/clear']) {
      expect(await client.refusal(method, PAUSED)).toMatchObject({
        code: -32600,
        data: { code: 'thread_archived' },
      });
    }
    expect(await client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
      goal: goalOf(),
    });
  });
});

describe('thread/goal/clear', () => {
  test('says whether there was a goal, and announces the change once', async () => {
    const server = await withThread();
    await server.client.request('thread/goal/set', PAUSED);
    const clear = () =>
      server.client.request('thread/goal/clear', { threadId: idOf(1), origin: 'automatic' });
    expect(await clear()).toEqual({ cleared: true });
    expect(await server.client.waitFor('thread/goal/cleared')).toEqual({ threadId: idOf(1) });
    expect(await clear()).toEqual({ cleared: false });
    expect(await server.client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
      goal: null,
    });
    expect(server.client.notifications('thread/goal/cleared')).toHaveLength(1);
  });

  test('works on a thread that is not loaded', async () => {
    const server = await withThread();
    await server.client.request('thread/goal/set', PAUSED);
    const { client } = await server.restart();
    expect(await client.request('thread/goal/clear', { threadId: idOf(1) })).toEqual({
      cleared: true,
    });
    expect(await client.waitFor('thread/goal/cleared')).toEqual({ threadId: idOf(1) });
    expect(await client.request('thread/goal/clear', { threadId: idOf(1) })).toEqual({
      cleared: false,
    });
  });
});

test('a fork has no goal, and its source keeps its own', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  await server.client.request('thread/goal/set', PAUSED);
  const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
  expect(await server.client.request('thread/goal/get', { threadId: thread.id })).toEqual({
    goal: null,
  });
  expect(await server.client.request('thread/goal/get', { threadId: idOf(1) })).toEqual({
    goal: goalOf(),
  });
});

test('a client without experimentalApi may use goals', async () => {
  const server = await withThread({ capabilities: null });
  expect(await server.client.request('thread/goal/set', PAUSED)).toEqual({ goal: goalOf() });
});
