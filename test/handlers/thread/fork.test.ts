import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answer, PLAN_MODE, QUESTIONS, question } from '../../support/asking.ts';
import { idOf } from '../../support/counting-ids.ts';
import {
  agentItem,
  brief,
  START,
  START_MS,
  settingsOf,
  threadOf,
  userItem,
} from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  functionCall,
  message,
  messageBegun,
  response,
  said,
  USAGE,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith, withThreeTurns } from '../../support/thread-with.ts';

const UNKNOWN = idOf(999);

/** The message for the model of a fork about a turn that ran in the source. */
const CUT_OFF = {
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'input_text',
      text: expect.stringMatching(/^<turn_interrupted>\nThis thread is a copy/),
    },
  ],
};

async function sayIn({ client, model }: TestServer, threadId: string, said: string) {
  const count = model.requests.length;
  model.push(response(message('ok')));
  await client.turn(threadId, said);
  return conversation(model.request(count + 1));
}

describe('thread/fork refuses', () => {
  test('unknown threads and turns, and two points at once', async () => {
    const { client, home, turnIds } = await withThreeTurns();
    const path = join(home, 'no.jsonl');
    expect([
      await client.refusal('thread/fork', { threadId: 'nope' }),
      await client.refusal('thread/fork', { threadId: UNKNOWN }),
      await client.refusal('thread/fork', { threadId: idOf(1), path }),
      await client.refusal('thread/fork', { threadId: idOf(1), lastTurnId: 'nope' }),
      await client.refusal('thread/fork', { threadId: idOf(1), beforeTurnId: UNKNOWN }),
      await client.refusal('thread/fork', {
        threadId: idOf(1),
        lastTurnId: turnIds[0],
        beforeTurnId: turnIds[1],
      }),
    ]).toEqual([
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
        message: `no rollout found at ${path}`,
        data: { code: 'rollout_not_found', path },
      },
      {
        code: -32600,
        message: expect.stringContaining('nope'),
        data: { code: 'turn_not_found', threadId: idOf(1), turnId: 'nope' },
      },
      {
        code: -32600,
        message: expect.stringContaining(UNKNOWN),
        data: { code: 'turn_not_found', threadId: idOf(1), turnId: UNKNOWN },
      },
      {
        code: -32600,
        message: expect.stringContaining('lastTurnId'),
        data: { code: 'invalid_params' },
      },
    ]);
    expect(await client.request('thread/loaded/list', {})).toEqual({
      data: [idOf(1)],
      nextCursor: null,
    });
  });
});

test('a fork returns the copied turns, then announces its token usage, and thread/started without turns', async () => {
  const server = await withThreeTurns();
  const before = server.client.messages.length;
  server.clock.advance(5_000);
  const answer = await server.client.request('thread/fork', { threadId: idOf(1) });
  const { id } = answer.thread;
  const fork = threadOf(server, {
    id,
    forkedFromId: idOf(1),
    preview: 'one',
    createdAt: START + 5,
    updatedAt: START + 5,
    recencyAt: START + 5,
    path: join(
      server.home,
      'sessions',
      '2026',
      '01',
      '01',
      `rollout-2026-01-01T00-00-05-${id}.jsonl`,
    ),
  });
  expect(id > idOf(1)).toBe(true);
  expect(answer).toEqual({ thread: { ...fork, turns: server.turns }, ...settingsOf(server) });
  await server.client.waitFor('thread/started', ({ thread }) => thread.id === id);
  const { params } = await server.client.first(
    'tokens',
    ({ method }) => method === 'thread/tokenUsage/updated',
  );
  expect(server.client.messages.slice(before + 1)).toEqual([
    {
      method: 'thread/tokenUsage/updated',
      params: {
        ...(params as object),
        threadId: id,
        turnId: server.turnIds[2],
        tokenUsage: expect.objectContaining({ last: USAGE }),
      },
    },
    { method: 'thread/started', params: { thread: fork } },
  ]);
});

test('a fork has the name of its source, also in its announcement', async () => {
  const { client } = await withThreeTurns();
  await client.request('thread/name/set', { threadId: idOf(1), name: 'Plans' });
  const { thread } = await client.request('thread/fork', { threadId: idOf(1) });
  expect(thread.name).toBe('Plans');
  const started = await client.waitFor('thread/started', (told) => told.thread.id === thread.id);
  expect(started.thread.name).toBe('Plans');
});

test('source and fork continue independently, each with its own history for the model', async () => {
  const server = await withThreeTurns();
  const shared = [
    asked('one'),
    said('first'),
    asked('two'),
    said('second'),
    asked('three'),
    said('third'),
  ];
  const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
  expect(await sayIn(server, thread.id, 'in the fork')).toEqual([...shared, asked('in the fork')]);
  expect(await sayIn(server, idOf(1), 'in the source')).toEqual([
    ...shared,
    asked('in the source'),
  ]);
  expect(await sayIn(server, thread.id, 'again')).toEqual([
    ...shared,
    asked('in the fork'),
    said('ok'),
    asked('again'),
  ]);
  const { client } = await server.restart();
  const read = async (threadId: string) =>
    (await client.request('thread/read', { threadId, includeTurns: true })).thread.turns;
  expect((await read(idOf(1))).map(({ items }) => items.length)).toEqual([2, 2, 2, 2]);
  expect((await read(thread.id)).map(({ items }) => brief(items)).slice(3)).toEqual([
    ['user: in the fork', 'agent: ok'],
    ['user: again', 'agent: ok'],
  ]);
});

test('lastTurnId ends the fork with that turn, beforeTurnId before it', async () => {
  const server = await withThreeTurns();
  const last = await server.client.request('thread/fork', {
    threadId: idOf(1),
    lastTurnId: server.turnIds[1],
  });
  expect(last.thread.turns).toEqual(server.turns.slice(0, 2));
  const before = await server.client.request('thread/fork', {
    threadId: idOf(1),
    beforeTurnId: server.turnIds[1],
  });
  expect(before.thread.turns).toEqual(server.turns.slice(0, 1));
  expect(await sayIn(server, last.thread.id, 'on')).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
    said('second'),
    asked('on'),
  ]);
  expect(await sayIn(server, before.thread.id, 'on')).toEqual([
    asked('one'),
    said('first'),
    asked('on'),
  ]);
});

test('a fork before the first turn is empty, and the model gets the context again', async () => {
  const server = await withThreeTurns();
  const { thread } = await server.client.request('thread/fork', {
    threadId: idOf(1),
    beforeTurnId: server.turnIds[0],
  });
  expect(thread.turns).toEqual([]);
  expect(await sayIn(server, thread.id, 'begin')).toEqual([asked('begin')]);
  const roles = server.model
    .request(4)
    .input.map((item) => (item.type === 'message' ? item.role : item.type));
  expect(roles).toEqual(['developer', 'user', 'user']);
});

test('a fork by path, which takes precedence over the id', async () => {
  const server = await withThreeTurns();
  const { thread } = await server.client.request('thread/read', { threadId: idOf(1) });
  const fork = await server.client.request('thread/fork', { threadId: UNKNOWN, path: thread.path });
  expect(fork.thread.forkedFromId).toBe(idOf(1));
  expect(fork.thread.turns).toEqual(server.turns);
});

test('excludeTurns leaves the turns out of the response, not out of the fork', async () => {
  const server = await withThreeTurns();
  const { thread } = await server.client.request('thread/fork', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  expect(thread.turns).toEqual([]);
  const page = await server.client.request('thread/turns/list', {
    threadId: thread.id,
    sortDirection: 'asc',
    itemsView: 'full',
  });
  expect(page.data).toEqual(server.turns);
});

test('an ephemeral fork works, is not listed, and ends with the server; its source stays', async () => {
  const server = await withThreeTurns();
  const { thread } = await server.client.request('thread/fork', {
    threadId: idOf(1),
    ephemeral: true,
    excludeTurns: true,
  });
  expect(thread).toEqual(
    threadOf(server, {
      id: thread.id,
      forkedFromId: idOf(1),
      preview: 'one',
      ephemeral: true,
      path: null,
    }),
  );
  expect(await sayIn(server, thread.id, 'aside')).toHaveLength(7);
  const listed = await server.client.request('thread/list', {});
  expect(listed.data.map(({ id }) => id)).toEqual([idOf(1)]);
  const { client } = await server.restart();
  await client.refusal('thread/read', { threadId: thread.id });
  const source = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(source.thread.turns).toEqual(server.turns);
});

test('an ephemeral fork can be forked into a stored thread', async () => {
  const server = await withThreeTurns();
  const aside = await server.client.request('thread/fork', { threadId: idOf(1), ephemeral: true });
  await sayIn(server, aside.thread.id, 'aside');
  const { thread } = await server.client.request('thread/fork', { threadId: aside.thread.id });
  const { client } = await server.restart();
  const kept = await client.request('thread/read', { threadId: thread.id, includeTurns: true });
  expect(kept.thread.turns.map(({ items }) => brief(items)[0])).toEqual([
    'user: one',
    'user: two',
    'user: three',
    'user: aside',
  ]);
});

test('a source with a running turn: in the fork, the turn is interrupted and has its items so far; in the source, it goes on', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const gate = new Gate();
  server.model.push(response(messageBegun('par'), [gate], message('partial').slice(2)));
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('two'),
  });
  await server.client.waitFor('item/agentMessage/delta', ({ turnId }) => turnId === turn.id);
  server.clock.advance(1_000);
  const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
  expect(thread.turns[1]).toMatchObject({
    id: turn.id,
    status: 'interrupted',
    error: null,
    items: [userItem('two'), agentItem('par', { completedAtMs: START_MS + 1_000 })],
  });
  expect(thread.status).toEqual({ type: 'idle' });
  gate.open();
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  const source = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(source.thread.turns.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(await sayIn(server, thread.id, 'go on')).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
    CUT_OFF,
    asked('go on'),
  ]);
  const ofSource = await sayIn(server, idOf(1), 'and here');
  expect(ofSource).toEqual([
    asked('one'),
    said('first'),
    asked('two'),
    said('partial'),
    asked('and here'),
  ]);
});

test.each(['the whole', 'up to the running turn'])(
  'a fork of %s while a call runs: its model reads that the call and the turn were cut off',
  async (what) => {
    const server = await startServer();
    server.model.push(
      response(
        functionCall('request_user_input', QUESTIONS, { callId: 'open' }),
        functionCall('no_tool', {}, { callId: 'over' }),
      ),
    );
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
      ...PLAN_MODE,
    });
    const open = await question(server.client, 'item/tool/requestUserInput');
    const point = what === 'the whole' ? {} : { lastTurnId: turn.id };
    const { thread } = await server.client.request('thread/fork', { threadId: idOf(1), ...point });
    const prompt = await sayIn(server, thread.id, 'go on');
    expect(
      prompt.map((item) =>
        item.type === 'function_call_output'
          ? item.output
          : item.type === 'function_call'
            ? item.call_id
            : item,
      ),
    ).toEqual([
      asked('one'),
      'open',
      'over',
      'This call was cut off before it gave an output.',
      expect.stringMatching(/^There is no tool named no_tool/),
      CUT_OFF,
      asked('go on'),
    ]);
    server.model.push(response(message('done')));
    answer(server.client, open, { answers: {} });
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  },
);

test('a fork that ends before the running turn, or in a turn that has ended, tells its model of no interruption', async () => {
  const server = await startServer();
  const { turns } = await threadWith(server, [['one', 'first']]);
  const gate = new Gate();
  server.model.push(response([gate], message('second')));
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('two'),
  });
  await gate.reached;
  for (const point of [{ beforeTurnId: turn.id }, { lastTurnId: turns[0]?.id ?? '' }]) {
    const { thread } = await server.client.request('thread/fork', { threadId: idOf(1), ...point });
    expect(await sayIn(server, thread.id, 'go on')).toEqual([
      asked('one'),
      said('first'),
      asked('go on'),
    ]);
  }
  gate.open();
  await server.client.turnCompleted(turn.id);
});

test('a source whose message is not saved yet: the fork has no message, rather than an empty one', async () => {
  const server = await startServer();
  const gate = new Gate();
  server.model.push(response(messageBegun('par'), [gate]));
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('one'),
  });
  await server.client.waitFor('item/agentMessage/delta', ({ turnId }) => turnId === turn.id);
  const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
  expect(thread.turns).toMatchObject([
    { id: turn.id, status: 'interrupted', items: [userItem('one')] },
  ]);
  gate.open();
});

test('a fork takes the model and folder of the last turn of the source, and its own overrides', async () => {
  const server = await withThreeTurns();
  mkdirSync(join(server.folder, 'elsewhere'));
  server.model.push(response(message('ok')));
  await server.client.turn(idOf(1), 'four', {
    model: 'turn-model',
    effort: 'high',
    cwd: join(server.folder, 'elsewhere'),
  });
  const plain = await server.client.request('thread/fork', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  expect(plain).toMatchObject({
    model: 'turn-model',
    reasoningEffort: 'high',
    cwd: join(server.folder, 'elsewhere'),
  });
  const changed = await server.client.request('thread/fork', {
    threadId: idOf(1),
    excludeTurns: true,
    model: 'fork-model',
    cwd: server.cwd,
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
    threadSource: 'user',
    config: { model_reasoning_effort: 'low' },
  });
  const { thread, ...settings } = changed;
  expect(thread).toMatchObject({ threadSource: 'user', model: 'fork-model', cwd: server.cwd });
  expect(settings).toEqual(
    settingsOf(server, {
      model: 'fork-model',
      reasoningEffort: 'low',
      sandbox: { type: 'dangerFullAccess' },
      approvalPolicy: 'never',
    }),
  );
  const source = await server.client.request('thread/resume', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  expect(source).toMatchObject({ model: 'turn-model', approvalPolicy: 'on-request' });
});

test('a fork of a thread that is not loaded does not load it', async () => {
  const server = await withThreeTurns();
  const { client } = await server.restart();
  const { thread } = await client.request('thread/fork', { threadId: idOf(1) });
  expect(thread.turns).toEqual(server.turns);
  expect(await client.request('thread/loaded/list', {})).toEqual({
    data: [thread.id],
    nextCursor: null,
  });
});

test('the token count of a fork continues from that of the source', async () => {
  const server = await withThreeTurns();
  const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
  await sayIn(server, thread.id, 'on');
  const [, own] = server.client.notifications(
    'thread/tokenUsage/updated',
    ({ threadId }) => threadId === thread.id,
  );
  expect(own?.tokenUsage.total.totalTokens).toBe(4 * USAGE.totalTokens);
});
