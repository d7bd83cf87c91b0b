import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { agentItem, brief, settingsOf, threadOf, turnOf, userItem } from '../support/expected.ts';
import { asked, conversation, message, response, said } from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { at, BEGAN_MS, event, line, rolloutId, sessionMeta, text, turn } from './rollout-text.ts';

const THREAD = rolloutId(1);
const [FIRST, SECOND] = [rolloutId(11), rolloutId(12)];
const UNKNOWN = rolloutId(999);
const BEGAN = BEGAN_MS / 1000;

/** A server, and a rollout in a folder beside its home. */
async function withRollout(
  more: string[] = [],
  meta = {},
  options: TestServerOptions = {},
): Promise<TestServer & { path: string }> {
  const server = await startServer(options);
  const path = join(server.folder, 'x.jsonl');
  const head = sessionMeta(THREAD, {
    cwd: server.cwd,
    originator: 'another',
    source: 'cli',
    model_provider: 'test',
    ...meta,
  });
  const context = (model: string) =>
    line(1, 'turn_context', { cwd: server.cwd, model, effort: 'low' });
  writeFiles(server.folder, {
    'x.jsonl': text([
      head,
      ...turn(1, FIRST, ['one', 'first']),
      context('model-a'),
      ...turn(5, SECOND, ['two', 'second']),
      context('model-b'),
      ...more,
    ]),
  });
  return { ...server, path };
}

const twoTurns = [
  expectedTurn(1, FIRST, ['one', 'first']),
  expectedTurn(5, SECOND, ['two', 'second']),
];

function expectedTurn(second: number, id: string, [asks, answer]: [string, string]) {
  return turnOf({
    id,
    startedAt: BEGAN + second,
    completedAt: BEGAN + second + 1,
    durationMs: 1000,
    items: [
      userItem(asks, { id: `${id}-user`, startedAtMs: at(second), completedAtMs: at(second) }),
      agentItem(answer, {
        id: `${id}-agent`,
        startedAtMs: at(second + 1),
        completedAtMs: at(second + 1),
      }),
    ],
  });
}

describe('a path is refused', () => {
  test('if it is relative, names no file, or names a file that is not a rollout; and nothing is stored', async () => {
    const { client, folder } = await startServer({ files: { 'x.txt': 'x' } });
    const methods = ['thread/resume', 'thread/fork'];
    for (const method of methods) {
      expect([
        await client.refusal(method, { threadId: UNKNOWN, path: 'x.jsonl' }),
        await client.refusal(method, { threadId: UNKNOWN, path: join(folder, 'no.jsonl') }),
        await client.refusal(method, { threadId: UNKNOWN, path: join(folder, 'x.txt') }),
      ]).toEqual([
        {
          code: -32600,
          message: 'params.path: "x.jsonl" is not an absolute path',
          data: { code: 'invalid_params' },
        },
        {
          code: -32600,
          message: `no rollout found at ${join(folder, 'no.jsonl')}`,
          data: { code: 'rollout_not_found', path: join(folder, 'no.jsonl') },
        },
        {
          code: -32600,
          message: `${join(folder, 'x.txt')} cannot be read as a rollout: none of its first lines is a record of a rollout`,
          data: { code: 'rollout_invalid', path: join(folder, 'x.txt') },
        },
      ]);
    }
    expect((await client.request('thread/list', {})).data).toEqual([]);
  });

  test("if the thread's provider is unknown here; a request may name another", async () => {
    const { client, path } = await withRollout(
      [],
      { model_provider: 'elsewhere' },
      { model: null },
    );
    const refusal = await client.refusal('thread/resume', { threadId: UNKNOWN, path });
    expect([refusal.code, refusal.data.code, refusal.message]).toEqual([
      -32600,
      'config_invalid',
      expect.stringContaining('unknown model provider: elsewhere'),
    ]);
    const { modelProvider, thread } = await client.request('thread/resume', {
      threadId: UNKNOWN,
      path,
      modelProvider: 'test',
    });
    expect([modelProvider, thread.turns]).toEqual(['test', twoTurns]);
  });
});

describe('thread/resume by the path of a rollout', () => {
  test('returns the thread with its id, times, turns and the settings of its last turn', async () => {
    const server = await withRollout();
    const { client, path } = server;
    const answer = await client.request('thread/resume', { threadId: UNKNOWN, path });
    expect(answer).toEqual({
      thread: threadOf(server, {
        id: THREAD,
        path,
        preview: 'one',
        source: 'cli',
        originator: 'another',
        model: 'model-b',
        reasoningEffort: 'low',
        createdAt: BEGAN,
        updatedAt: BEGAN + 1,
        recencyAt: BEGAN + 5,
        turns: twoTurns,
      }),
      ...settingsOf(server, { model: 'model-b', reasoningEffort: 'low' }),
      collaborationMode: {
        mode: 'default',
        settings: { model: 'model-b', reasoning_effort: 'low', developer_instructions: null },
      },
      initialTurnsPage: null,
      turnsBackwardsCursor: expect.any(String),
      itemsBackwardsCursor: expect.any(String),
    });
  });

  test('continues with the items that the model had read, and is stored: its id and its path name the same thread', async () => {
    const { client, path, model, restart } = await withRollout();
    await client.request('thread/resume', { threadId: UNKNOWN, path });
    model.push(response(message('third')));
    await client.turn(THREAD, 'three');
    expect(conversation(model.request(1))).toEqual([
      asked('one'),
      said('first'),
      asked('two'),
      said('second'),
      asked('three'),
    ]);
    const again = await restart();
    const byId = await again.client.request('thread/resume', { threadId: THREAD });
    const byPath = await again.client.request('thread/resume', {
      threadId: UNKNOWN,
      path: `${path}/../x.jsonl`,
    });
    const texts = byId.thread.turns.map(({ items }) => brief(items));
    expect(texts).toEqual([
      ['user: one', 'agent: first'],
      ['user: two', 'agent: second'],
      ['user: three', 'agent: third'],
    ]);
    expect(byPath.thread).toEqual(byId.thread);
  });

  test('reports the token counts of the file', async () => {
    const usage = { input_tokens: 4, output_tokens: 3, total_tokens: 7 };
    const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: null };
    const { client, path } = await withRollout([event(8, 'token_count', { info })]);
    await client.request('thread/resume', { threadId: UNKNOWN, path });
    const counted = {
      totalTokens: 7,
      inputTokens: 4,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 3,
      reasoningOutputTokens: 0,
    };
    expect(await client.waitFor('thread/tokenUsage/updated')).toEqual({
      threadId: THREAD,
      turnId: SECOND,
      tokenUsage: { total: counted, last: counted, modelContextWindow: null },
    });
  });

  test('two at once import it once', async () => {
    const { client, path } = await withRollout();
    const [one, other] = await Promise.all([
      client.request('thread/resume', { threadId: UNKNOWN, path }),
      client.request('thread/resume', { threadId: rolloutId(998), path }),
    ]);
    expect([one.thread.id, other.thread]).toEqual([THREAD, one.thread]);
  });

  test('resumes the stored thread if another file has its id', async () => {
    const { client, path, folder } = await withRollout();
    await client.request('thread/resume', { threadId: UNKNOWN, path });
    writeFiles(folder, {
      'y.jsonl': text([sessionMeta(THREAD), ...turn(1, FIRST, ['other', 'words'])]),
    });
    const { thread } = await client.request('thread/resume', {
      threadId: UNKNOWN,
      path: join(folder, 'y.jsonl'),
    });
    expect([thread.path, thread.turns]).toEqual([path, twoTurns]);
  });

  test('is listed from then on by its own times, with its name', async () => {
    const { client, path } = await withRollout([
      event(9, 'thread_name_updated', { thread_name: 'Named' }),
    ]);
    await client.request('thread/resume', { threadId: UNKNOWN, path });
    const { data } = await client.request('thread/list', {});
    expect(
      data.map(({ id, name, preview, createdAt, updatedAt }) => ({
        id,
        name,
        preview,
        createdAt,
        updatedAt,
      })),
    ).toEqual([
      {
        id: THREAD,
        name: 'Named',
        preview: 'one',
        createdAt: BEGAN,
        updatedAt: Math.floor(at(9) / 1000),
      },
    ]);
  });

  test('without a turn gives a thread like a new one: it can have turns, and no list has it before', async () => {
    const { client, folder, model } = await startServer();
    writeFiles(folder, { 'x.jsonl': text([sessionMeta(THREAD, { cwd: folder })]) });
    const { thread } = await client.request('thread/resume', {
      threadId: UNKNOWN,
      path: join(folder, 'x.jsonl'),
    });
    expect([
      thread.id,
      thread.turns,
      thread.model,
      (await client.request('thread/list', {})).data,
    ]).toEqual([THREAD, [], 'test-model', []]);
    model.push(response(message('first')));
    await client.turn(THREAD, 'one');
    expect((await client.request('thread/list', {})).data.map(({ id }) => id)).toEqual([THREAD]);
  });

  test('logs what could not be read', async () => {
    const { client, path, log } = await withRollout(['damaged', '{"half']);
    await client.request('thread/resume', { threadId: UNKNOWN, path });
    expect(log.lines.filter((one) => one.text === 'a rollout was imported')).toEqual([
      {
        level: 'info',
        text: 'a rollout was imported',
        fields: { threadId: THREAD, path, skippedLines: 2 },
      },
    ]);
  });
});

describe('thread/fork by the path of a rollout', () => {
  test('makes a new thread with its turns, and does not change the source', async () => {
    const { client, path, model } = await withRollout();
    const { thread } = await client.request('thread/fork', { threadId: UNKNOWN, path });
    expect([thread.id === THREAD, thread.forkedFromId, thread.preview, thread.turns]).toEqual([
      false,
      THREAD,
      'one',
      twoTurns,
    ]);
    model.push(response(message('third')));
    await client.turn(thread.id, 'three');
    const source = await client.request('thread/read', { threadId: THREAD, includeTurns: true });
    expect([source.thread.path, source.thread.turns]).toEqual([path, twoTurns]);
  });

  test('at a turn has the items that the model had read by then', async () => {
    const { client, path, model } = await withRollout();
    const { thread } = await client.request('thread/fork', {
      threadId: UNKNOWN,
      path,
      lastTurnId: FIRST,
    });
    model.push(response(message('else')));
    await client.turn(thread.id, 'other');
    expect(conversation(model.request(1))).toEqual([asked('one'), said('first'), asked('other')]);
  });
});

test('items have the times that the file records for them, and null for those that it does not, in all histories', async () => {
  const item = (id: string) => ({ type: 'Plan', id, text: id });
  const written = [
    event(9, 'task_started', { turn_id: UNKNOWN, started_at: BEGAN + 9 }),
    event(9, 'agent_message', { message: 'older' }),
    event(9, 'item_completed', {
      turn_id: UNKNOWN,
      item: item('both'),
      started_at_ms: at(9) + 1,
      completed_at_ms: at(9) + 2,
    }),
    event(9, 'item_completed', { turn_id: UNKNOWN, item: item('end'), completed_at_ms: at(9) + 3 }),
    event(9, 'item_completed', { turn_id: UNKNOWN, item: item('none') }),
    event(9, 'task_complete', { turn_id: UNKNOWN, completed_at: BEGAN + 9 }),
  ];
  const expected = [
    [null, null],
    [at(9) + 1, at(9) + 2],
    [null, at(9) + 3],
    [null, null],
  ];
  const { client, path } = await withRollout(written);
  const times = (items: { startedAtMs?: number | null; completedAtMs?: number | null }[]) =>
    items.map(({ startedAtMs, completedAtMs }) => [startedAtMs, completedAtMs]);
  const { thread } = await client.request('thread/resume', { threadId: '', path });
  expect(times(thread.turns[2]?.items ?? [])).toEqual(expected);
  const threadId = thread.id;
  expect(
    times(
      (await client.request('thread/read', { threadId, includeTurns: true })).thread.turns[2]
        ?.items ?? [],
    ),
  ).toEqual(expected);
  const { data: turns } = await client.request('thread/turns/list', {
    threadId,
    itemsView: 'full',
  });
  expect(times(turns[0]?.items ?? [])).toEqual(expected);
  const { data: items } = await client.request('thread/items/list', { threadId, turnId: UNKNOWN });
  expect([times(items), times(items.map((entry) => entry.item))]).toEqual([expected, expected]);
});
