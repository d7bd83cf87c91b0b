import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import { CountingIds, idOf } from '../../support/counting-ids.ts';
import {
  agentItem,
  brief,
  START_MS,
  settingsOf,
  threadOf,
  turnOf,
  userItem,
} from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { taken } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  message,
  messageBegun,
  response,
  said,
  TestModel,
  USAGE,
} from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { withTwoTurns } from '../../support/thread-with.ts';

const UNKNOWN = idOf(999);

const collaborationMode = {
  mode: 'default',
  settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
};

describe('thread/resume refuses', () => {
  test('an invalid id, an unknown id, an unknown path, and an empty history', async () => {
    const { client, home } = await startServer();
    expect([
      await client.refusal('thread/resume', {}),
      await client.refusal('thread/resume', { threadId: 'nope' }),
      await client.refusal('thread/resume', { threadId: UNKNOWN }),
      await client.refusal('thread/resume', { threadId: UNKNOWN, path: join(home, 'no.jsonl') }),
      await client.refusal('thread/resume', { threadId: UNKNOWN, history: [] }),
    ]).toEqual([
      {
        code: -32600,
        message: 'params.threadId is missing: a string is expected',
        data: { code: 'invalid_params' },
      },
      {
        code: -32600,
        message: 'invalid thread id: "nope" is not a UUID',
        data: { code: 'invalid_thread_id' },
      },
      {
        code: -32600,
        message: `no rollout found for thread id ${UNKNOWN}`,
        data: { code: 'thread_not_found', threadId: UNKNOWN },
      },
      {
        code: -32600,
        message: `no rollout found at ${join(home, 'no.jsonl')}`,
        data: { code: 'rollout_not_found', path: join(home, 'no.jsonl') },
      },
      { code: -32600, message: 'history must not be empty', data: { code: 'empty_history' } },
    ]);
  });

  test('an archived thread', async () => {
    const { client, store } = await (await withTwoTurns()).restart();
    await store.updateThread(idOf(1), { archivedAtMs: START_MS });
    expect(await client.refusal('thread/resume', { threadId: idOf(1) })).toEqual({
      code: -32600,
      message: `thread ${idOf(1)} is archived: unarchive it first`,
      data: { code: 'thread_archived', threadId: idOf(1) },
    });
  });

  test('a thread that another server on the same home has loaded, and names its process', async () => {
    const first = await withTwoTurns();
    const second = await startServer({
      folder: first.folder,
      pid: 4712,
      ids: new CountingIds(100),
    });
    expect(await second.client.refusal('thread/resume', { threadId: idOf(1) })).toEqual({
      code: -32600,
      message: `thread ${idOf(1)} already has an active writer (pid 4711)`,
      data: { code: 'active_writer', pid: 4711 },
    });
    const { thread } = await second.client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.turns).toEqual(first.turns);
    await first.close();
    expect(
      (await second.client.request('thread/resume', { threadId: idOf(1) })).thread.turns,
    ).toEqual(first.turns);
  });
});

test('returns a loaded thread with its turns, then announces its token usage, and that it has no goal', async () => {
  const server = await withTwoTurns();
  const before = server.client.messages.length;
  const answer = await server.client.request('thread/resume', { threadId: idOf(1) });
  expect(answer).toEqual({
    thread: threadOf(server, { id: idOf(1), preview: 'one', turns: server.turns }),
    ...settingsOf(server),
    collaborationMode,
    initialTurnsPage: null,
    turnsBackwardsCursor: expect.any(String),
    itemsBackwardsCursor: expect.any(String),
  });
  await server.client.waitFor('thread/goal/cleared');
  const {
    totalTokens,
    inputTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
    outputTokens,
    reasoningOutputTokens,
  } = USAGE;
  const total = {
    totalTokens: 2 * totalTokens,
    inputTokens: 2 * inputTokens,
    cachedInputTokens: 2 * cachedInputTokens,
    cacheWriteInputTokens: 2 * cacheWriteInputTokens,
    outputTokens: 2 * outputTokens,
    reasoningOutputTokens: 2 * reasoningOutputTokens,
  };
  expect(server.client.messages.slice(before + 1)).toEqual([
    {
      method: 'thread/tokenUsage/updated',
      params: {
        threadId: idOf(1),
        turnId: server.turns[1]?.id,
        tokenUsage: { total, last: USAGE, modelContextWindow: 258_400 },
      },
    },
    { method: 'thread/goal/cleared', params: { threadId: idOf(1) } },
  ]);
});

test('after a restart a thread is the same as before, and its history reaches the model', async () => {
  const server = await withTwoTurns();
  const { client, model } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  expect(thread).toEqual(threadOf(server, { id: idOf(1), preview: 'one', turns: server.turns }));
  model.push(response(message('third')));
  await client.turn(idOf(1), 'three');
  expect(conversation(model.request(3))).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
    said('second'),
    asked('three'),
  ]);
});

test('after a restart the response comes before the token usage of the last turn', async () => {
  const server = await withTwoTurns();
  const { client } = await server.restart();
  await client.request('thread/resume', { threadId: idOf(1) });
  await client.waitFor('thread/goal/cleared');
  expect(client.messages.slice(1).map(({ id, method }) => method ?? id)).toEqual([
    2,
    'thread/tokenUsage/updated',
    'thread/goal/cleared',
  ]);
});

test('the model gets the context once, also over a restart', async () => {
  const server = await withTwoTurns();
  const { client, model } = await server.restart();
  await client.request('thread/resume', { threadId: idOf(1) });
  model.push(response(message('third')));
  await client.turn(idOf(1), 'three');
  const roles = model
    .request(3)
    .input.map((item) => (item.type === 'message' ? item.role : item.type));
  expect(roles).toEqual(['developer', 'user', 'user', 'assistant', 'user', 'assistant', 'user']);
});

test('a path finds the thread, and takes precedence over the id', async () => {
  const server = await withTwoTurns();
  const other = await server.client.request('thread/start', {});
  const { client } = await server.restart();
  const path = join(
    server.home,
    'sessions',
    '2026',
    '01',
    '01',
    `rollout-2026-01-01T00-00-00-${idOf(1)}.jsonl`,
  );
  const answer = await client.request('thread/resume', { threadId: other.thread.id, path });
  expect(answer.thread).toEqual(
    threadOf(server, { id: idOf(1), preview: 'one', turns: server.turns }),
  );
  expect(await client.request('thread/loaded/list', {})).toEqual({
    data: [idOf(1)],
    nextCursor: null,
  });
});

test('an empty path counts as absent', async () => {
  const server = await withTwoTurns();
  const { thread } = await server.client.request('thread/resume', { threadId: idOf(1), path: '' });
  expect(thread.id).toBe(idOf(1));
});

describe('a loaded thread', () => {
  test('is not resumed with a history, nor at the path of another', async () => {
    const server = await withTwoTurns();
    const { client } = server;
    const other = (await client.request('thread/start', {})).thread;
    const history = [
      {
        type: 'message' as const,
        role: 'user',
        content: [{ type: 'input_text' as const, text: 'old' }],
      },
    ];
    const message = (why: string) => `thread ${idOf(1)} is loaded, ${why}`;
    expect(await client.refusal('thread/resume', { threadId: idOf(1), history })).toEqual({
      code: -32600,
      message: message('so it cannot be resumed with another history'),
      data: { code: 'thread_loaded', threadId: idOf(1) },
    });
    for (const path of [other.path, '/nonexistent']) {
      expect(await client.refusal('thread/resume', { threadId: idOf(1), path })).toEqual({
        code: -32600,
        message: message(`and ${path} is not its path`),
        data: { code: 'thread_loaded', threadId: idOf(1), path },
      });
    }
    const { path } = threadOf(server, { id: idOf(1) });
    expect(
      (await client.request('thread/resume', { threadId: idOf(1), path: `${path}/.` })).thread.id,
    ).toBe(idOf(1));
    const own = path ?? '';
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, '');
    const link = join(server.home, 'link.jsonl');
    symlinkSync(own, link);
    expect(
      (await client.request('thread/resume', { threadId: idOf(1), path: link })).thread.id,
    ).toBe(idOf(1));
  });
});

test('excludeTurns leaves out the turns, and the token usage of their last', async () => {
  const server = await withTwoTurns();
  const told = () => server.client.notifications('thread/tokenUsage/updated').length;
  const before = told();
  for (const method of ['thread/resume', 'thread/fork'] as const) {
    expect(
      (await server.client.request(method, { threadId: idOf(1), excludeTurns: true })).thread.turns,
    ).toEqual([]);
    await server.client.request('thread/loaded/list', {});
    expect(told()).toBe(before);
  }
  await server.client.request('thread/resume', { threadId: idOf(1) });
  await server.client.waitFor('thread/tokenUsage/updated', () => told() === before + 1);
});

test('a resume keeps the name of a thread and the time of its start', async () => {
  const server = await withTwoTurns();
  await server.client.request('thread/name/set', { threadId: idOf(1), name: 'Bug hunt' });
  server.clock.advance(3_600_000);
  const { client } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  expect(thread).toEqual(
    threadOf(server, { id: idOf(1), preview: 'one', name: 'Bug hunt', turns: server.turns }),
  );
});

describe('initialTurnsPage', () => {
  test('has the newest turns first, and its cursor continues with older ones', async () => {
    const server = await withTwoTurns();
    const { initialTurnsPage: page } = await server.client.request('thread/resume', {
      threadId: idOf(1),
      excludeTurns: true,
      initialTurnsPage: { limit: 1, itemsView: 'full' },
    });
    expect(page).toEqual({
      data: [server.turns[1]],
      nextCursor: expect.any(String),
      backwardsCursor: expect.any(String),
    });
    const cursor = page?.nextCursor ?? null;
    const next = await server.client.request('thread/turns/list', {
      threadId: idOf(1),
      cursor,
      itemsView: 'full',
    });
    expect(next).toEqual({
      data: [server.turns[0]],
      nextCursor: null,
      backwardsCursor: expect.any(String),
    });
  });

  test('can begin with the oldest turn, and has summaries by default', async () => {
    const server = await withTwoTurns();
    const { initialTurnsPage: page } = await server.client.request('thread/resume', {
      threadId: idOf(1),
      initialTurnsPage: { sortDirection: 'asc' },
    });
    expect(page?.data).toEqual(server.turns.map((turn) => ({ ...turn, itemsView: 'summary' })));
    expect(page?.nextCursor).toBe(null);
  });

  test('the backwards cursors continue with turns and items that come after the resume', async () => {
    const server = await withTwoTurns();
    const answer = await server.client.request('thread/resume', {
      threadId: idOf(1),
      excludeTurns: true,
    });
    server.model.push(response(message('third')));
    const { id } = await server.client.turn(idOf(1), 'three');
    const turns = await server.client.request('thread/turns/list', {
      threadId: idOf(1),
      cursor: answer.turnsBackwardsCursor,
      sortDirection: 'asc',
    });
    expect(turns.data.map((turn) => turn.id)).toEqual([server.turns[1]?.id, id]);
    const items = await server.client.request('thread/items/list', {
      threadId: idOf(1),
      cursor: answer.itemsBackwardsCursor,
      sortDirection: 'asc',
    });
    expect(brief(items.data.map(({ item }) => item))).toEqual([
      'agent: second',
      'user: three',
      'agent: third',
    ]);
  });

  test('the backwards cursors are null for an empty thread', async () => {
    const { client } = await startServer();
    const { thread } = await client.request('thread/start', {});
    expect(
      await client.request('thread/resume', { threadId: thread.id, initialTurnsPage: {} }),
    ).toMatchObject({
      initialTurnsPage: { data: [], nextCursor: null, backwardsCursor: null },
      turnsBackwardsCursor: null,
      itemsBackwardsCursor: null,
    });
  });
});

describe('while a turn runs', () => {
  async function running() {
    const gate = new Gate();
    const server = await startServer({
      model: new TestModel(response(messageBegun('par'), [gate], message('partial').slice(2))),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('hi'),
    });
    await server.client.waitFor('item/agentMessage/delta');
    return { server, gate, turnId: turn.id };
  }

  test('a resume shows the turn as it is, and its overrides do not disturb it', async () => {
    const { server, gate, turnId } = await running();
    const answer = await server.client.request('thread/resume', {
      threadId: idOf(1),
      model: 'ignored',
      cwd: server.folder,
    });
    expect(answer).toMatchObject({
      model: 'test-model',
      cwd: server.cwd,
      thread: { id: idOf(1), status: { type: 'active', activeFlags: [] } },
    });
    expect(answer.thread.turns).toEqual([
      turnOf({
        id: turnId,
        status: 'inProgress',
        completedAt: null,
        durationMs: null,
        items: [userItem('hi'), expect.objectContaining({ type: 'agentMessage' })],
      }),
    ]);
    gate.open();
    expect(await server.client.turnCompleted(turnId)).toMatchObject({
      status: 'completed',
      items: [agentItem('partial')],
    });
    expect(server.client.notifications('turn/completed')).toHaveLength(1);
    expect(server.model.requests.map(({ model }) => model)).toEqual(['test-model']);
  });

  test('another client that resumes follows the turn to its end', async () => {
    const { server, gate, turnId } = await running();
    const other = await server.connect();
    await other.request('thread/resume', { threadId: idOf(1) });
    await other.waitFor('thread/goal/cleared');
    await taken(server.client);
    expect(server.client.notifications('thread/goal/cleared')).toEqual([]);
    gate.open();
    expect(await other.turnCompleted(turnId)).toMatchObject({
      status: 'completed',
      items: [agentItem('partial')],
    });
    expect(other.notifications('thread/started')).toEqual([]);
  });
});

test('a resume that fails leaves the thread as it was: not loaded, and free for other processes', async () => {
  let broken = true;
  const { restart } = await withTwoTurns();
  const { client } = await restart({
    wrapStore: (store) =>
      new Proxy(store, {
        get: (target, name: keyof typeof store) =>
          name === 'listTurns' && broken
            ? () => Promise.reject(new StoreError('store_damaged', 'the database is damaged'))
            : target[name].bind(target),
      }),
  });
  expect(await client.refusal('thread/resume', { threadId: idOf(1) })).toMatchObject({
    data: { code: 'store_damaged' },
  });
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
  broken = false;
  expect((await client.request('thread/resume', { threadId: idOf(1) })).thread.turns).toHaveLength(
    2,
  );
});
