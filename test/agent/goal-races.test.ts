import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { idOf } from '../support/counting-ids.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import { settled, taken } from '../support/settled.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { failed, functionCall, message, response } from '../support/test-model.ts';
import type { TestServer, TestServerOptions } from '../support/test-server.ts';
import { threadAnswering } from '../support/thread-with.ts';

const threadId = idOf(1);
const IDLE_MS = 30 * 60 * 1000;
const PLAN = functionCall('update_plan', { plan: [] });
const COMPLETE = functionCall('update_goal', { status: 'complete' });

/** A store whose first writes with an entry of this kind wait for `act`, and fail if `act` does. */
function atFirst(
  kind: LogEntry['kind'],
  act: () => Promise<void> | undefined,
  times = 1,
): TestServerOptions {
  let left = times;
  return {
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (left === 0 || !entries.some((entry) => entry.kind === kind)) return;
        left--;
        return act();
      }),
  };
}

async function setGoal({ client }: TestServer): Promise<void> {
  await client.request('thread/goal/set', { threadId, objective: 'all green' });
}

async function goalOf({ client }: Pick<TestServer, 'client'>) {
  return (await client.request('thread/goal/get', { threadId })).goal;
}

function ends(client: TestClient): string[] {
  return client.notifications('turn/completed').map(({ turn }) => turn.status);
}

describe('settings that change while a turn for the goal begins', () => {
  test('are not lost: thread/settings/update waits until the turn has begun', async () => {
    const server = await threadAnswering([response(COMPLETE), response(message('done'))], {
      files: { 'work/AGENTS.md': 'be kind', 'other/AGENTS.md': 'be quick' },
    });
    const { client, folder } = server;
    // The instructions of another folder are read before the turn begins.
    await client.request('thread/settings/update', { threadId, cwd: join(folder, 'other') });
    const goal = setGoal(server);
    await client.request('thread/settings/update', { threadId, model: 'second-model' });
    await goal;
    await client.waitFor('thread/goal/updated', ({ goal: { status } }) => status === 'complete');
    await settled(client, threadId);
    expect(
      client
        .notifications('thread/settings/updated')
        .map(({ threadSettings }) => threadSettings.model),
    ).toEqual(['test-model', 'second-model']);
    const resumed = await client.request('thread/resume', { threadId });
    expect([resumed.model, resumed.cwd]).toEqual(['second-model', join(folder, 'other')]);
    const again = await server.restart();
    expect((await again.client.request('thread/resume', { threadId })).model).toBe('second-model');
  });

  test('nor are those of a turn/start: a resume by path, which uses another queue, waits for it', async () => {
    const gate = new Gate();
    const server = await threadAnswering(
      [response(message('hello'))],
      atFirst('turnStarted', () => gate.pass()),
    );
    const { client } = server;
    const { thread } = await client.request('thread/read', { threadId });
    const turn = client.turn(threadId, 'hi', { effort: 'high' });
    await gate.reached;
    const resumed = client.request('thread/resume', {
      threadId: '',
      path: thread.path,
      model: 'second-model',
    });
    await taken(client);
    gate.open();
    expect(await turn).toMatchObject({ status: 'completed' });
    // A turn ran, so the settings of the resume were ignored.
    expect(await resumed).toMatchObject({ model: 'test-model', reasoningEffort: 'high' });
    expect(server.model.request(1).model).toBe('test-model');
  });

  test('leaving plan mode lets the goal go on', async () => {
    const server = await threadAnswering([response(COMPLETE), response(message('done'))]);
    const { client } = server;
    const mode = (name: 'plan' | 'default') => ({
      collaborationMode: {
        mode: name,
        settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
      },
    });
    await client.request('thread/settings/update', { threadId, ...mode('plan') });
    await setGoal(server);
    await settled(client, threadId);
    expect(server.model.requests).toHaveLength(0);
    await client.request('thread/settings/update', { threadId, ...mode('default') });
    await client.waitFor('thread/goal/updated', ({ goal }) => goal.status === 'complete');
  });
});

describe('the goal and the end of a turn that could not be stored', () => {
  const full = () => {
    throw new StoreError('store_full', 'the disk is full');
  };

  test.each([
    ['completed', [response(PLAN), response(message('one'))]],
    ['failed', [[{ type: 'started' as const }, failed('no')]]],
  ])(
    'a turn that %s: the goal is blocked, for clients and after a restart',
    async (_how, responses) => {
      const server = await threadAnswering(responses, atFirst('turnEnded', full, 2));
      await setGoal(server);
      await server.client.waitFor('turn/completed');
      await settled(server.client, threadId);
      expect(ends(server.client)).toEqual(['failed']);
      expect(server.client.notifications('thread/goal/updated').at(-1)?.goal.status).toBe(
        'blocked',
      );
      const again = await server.restart();
      expect(await goalOf(again)).toMatchObject({ status: 'blocked' });
      await again.client.request('thread/resume', { threadId });
      await settled(again.client, threadId);
      expect(again.client.notifications('turn/started')).toEqual([]);
    },
  );
});

describe('no turn for the goal begins between the end of a turn and', () => {
  async function ending(wrap = (store: ThreadStore) => store) {
    const gate = new Gate();
    const { wrapStore = wrap } = atFirst('turnEnded', () => gate.pass());
    const server = await threadAnswering([response(PLAN), response(message('one'))], {
      wrapStore: (store) => wrap(wrapStore(store)),
    });
    await setGoal(server);
    await gate.reached;
    return { server, gate };
  }

  test.each(['thread/archive', 'thread/delete'] as const)('%s', async (method) => {
    const { server, gate } = await ending();
    const { client } = server;
    const done = client.request(method, { threadId });
    await taken(client);
    gate.open();
    expect(await done).toEqual({});
    await settled(client, threadId);
    expect(ends(client)).toEqual(['completed']);
    expect(client.notifications('warning')).toEqual([]);
    expect(server.model.requests).toHaveLength(2);
  });

  test('thread/revert, after which the goal waits for the user', async () => {
    const reading = new Gate();
    const { server, gate } = await ending((store) => ({
      ...store,
      listItems: async (id, query) => {
        if (query.turnId !== undefined) await reading.pass();
        return store.listItems(id, query);
      },
    }));
    const { client } = server;
    const { turn } = await client.waitFor('turn/started');
    const done = client.request('thread/revert', { threadId, beforeTurnId: turn.id });
    await reading.reached;
    gate.open();
    await client.waitFor('turn/completed');
    await taken(client);
    reading.open();
    expect((await done).thread.status).toEqual({ type: 'idle' });
    await client.request('thread/resume', { threadId });
    await settled(client, threadId);
    const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
    expect([ends(client), thread.turns, server.model.requests.length]).toEqual([
      ['completed'],
      [],
      2,
    ]);
    server.model.push(response(message('hello')), response(COMPLETE), response(message('done')));
    await client.turn(threadId, 'go on');
    await client.waitFor('thread/goal/updated', ({ goal }) => goal.status === 'complete');
  });
});

test.each(['between its turns', 'in its turn'])(
  'an archive %s does not stop the goal: its turns go on after thread/unarchive',
  async (when) => {
    const gate = new Gate();
    const server = await threadAnswering(
      [response(PLAN), response([new Gate()], message('one'))],
      atFirst('turnStarted', () => gate.pass()),
    );
    const { client, model } = server;
    await setGoal(server);
    await gate.reached;
    const archived =
      when === 'between its turns' ? client.request('thread/archive', { threadId }) : null;
    await taken(client);
    gate.open();
    if (archived === null) {
      await model.asked(2);
      await client.request('thread/archive', { threadId });
    }
    await archived;
    await client.request('thread/unarchive', { threadId });
    model.clear();
    model.push(response(COMPLETE), response(message('done')));
    await client.request('thread/resume', { threadId });
    await client.waitFor('thread/goal/updated', ({ goal }) => goal.status === 'complete');
  },
);

test('thread/goal/set on a loaded thread stores the goal and the preview at once', async () => {
  let writes = 0;
  const server = await threadAnswering([], {
    wrapStore: (store) =>
      gatedStore(store, () => {
        if (++writes > 1) throw new StoreError('store_full', 'the disk is full');
      }),
  });
  writes = 0;
  await server.client.request('thread/goal/set', {
    threadId,
    objective: 'all green',
    status: 'paused',
  });
  const { thread } = await server.client.request('thread/read', { threadId });
  expect([writes, thread.preview]).toEqual([1, 'all green']);
});

test('a thread is not unloaded while a turn begins, even if it had no followers for long', async () => {
  const gate = new Gate();
  const server = await threadAnswering(
    [response(message('hello'))],
    atFirst('turnStarted', () => gate.pass()),
  );
  const { client, clock } = server;
  await client.request('thread/unsubscribe', { threadId });
  await clock.timerOf(IDLE_MS);
  const answer = client.request('turn/start', { threadId, input: text('hi') });
  await gate.reached;
  clock.advance(IDLE_MS);
  await taken(client);
  gate.open();
  await answer;
  await settled(client, threadId);
  const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ status }) => status)).toEqual(['completed']);
  expect(client.notifications('thread/closed')).toEqual([]);
});

test('a server that ends leaves no timer of a thread whose turn it interrupts', async () => {
  const server = await threadAnswering([response([new Gate()], message('never'))]);
  await server.client.request('turn/start', { threadId, input: text('hi') });
  await server.model.asked(1);
  await server.client.request('thread/unsubscribe', { threadId });
  await server.close();
  expect(server.clock.timers).not.toContain(IDLE_MS);
});

test('thread/revert announces the status idle if the last turn fails while it is interrupted', async () => {
  const server = await threadAnswering(
    [response(message('one')), response([new Gate()], message('never'))],
    atSecondEnd(() => {
      throw new StoreError('store_full', 'the disk is full');
    }),
  );
  const { client } = server;
  await client.turn(threadId, 'hi');
  const { turn } = await client.request('turn/start', { threadId, input: text('and this') });
  await server.model.asked(2);
  const answer = await client.request('thread/revert', { threadId, beforeTurnId: turn.id });
  expect(answer.thread.status).toEqual({ type: 'idle' });
  await client.waitFor('thread/reverted');
  expect(client.notifications('thread/status/changed').map(({ status }) => status.type)).toEqual([
    'active',
    'idle',
    'active',
    'systemError',
    'idle',
  ]);
});

function atSecondEnd(act: () => undefined): TestServerOptions {
  let count = 0;
  return {
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (entries.some(({ kind }) => kind === 'turnEnded') && ++count === 2) act();
      }),
  };
}
