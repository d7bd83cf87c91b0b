import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ThreadListParams } from '../../../src/protocol/generated/types.ts';
import { START, threadOf } from '../../support/expected.ts';
import { text } from '../../support/test-client.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const NOBODY = '019a0000-0000-7000-8000-000000000000';
const EMPTY = { data: [], nextCursor: null, backwardsCursor: null };

/** Five threads of one turn each, a second apart: "thread 1" … "thread 5". */
async function withFiveThreads(): Promise<TestServer & { threads: string[] }> {
  const server = await startServer();
  const threads = [];
  for (let count = 1; count <= 5; count++) {
    threads.push((await threadWith(server, [[`thread ${count}`, 'ok']])).thread.id);
    server.clock.advance(1_000);
  }
  return { ...server, threads };
}

async function page({ client }: TestServer, params: ThreadListParams) {
  const { data, nextCursor, backwardsCursor } = await client.request('thread/list', params);
  return { previews: data.map(({ preview }) => preview), nextCursor, backwardsCursor };
}

async function previews(server: TestServer, params: ThreadListParams): Promise<string[]> {
  return (await page(server, params)).previews;
}

describe('thread/list refuses', () => {
  test('invalid cursors and those of another list or order, and names them', async () => {
    const server = await withFiveThreads();
    const { nextCursor: byRecency } = await page(server, { limit: 1, sortKey: 'recency_at' });
    const turns = await server.client.request('thread/turns/list', {
      threadId: server.threads[0] ?? '',
      limit: 1,
    });
    for (const cursor of ['garbage', 'W10', '', byRecency, turns.backwardsCursor]) {
      if (cursor === '') continue;
      expect(await server.client.refusal('thread/list', { cursor })).toEqual({
        code: -32600,
        message: `invalid cursor: ${cursor}`,
        data: { code: 'invalid_cursor' },
      });
    }
  });

  test('a cursor of any length, with a short message', async () => {
    const { client } = await startServer();
    const { message } = await client.refusal('thread/list', { cursor: 'x'.repeat(1_000_000) });
    expect(message).toBe(`invalid cursor: ${'x'.repeat(200)}`);
  });

  test('params of the wrong type', async () => {
    const { client } = await startServer();
    expect([
      await client.refusal('thread/list', { limit: -1 }),
      await client.refusal('thread/list', { sortDirection: 'up' }),
      await client.refusal('thread/list', { cwd: 5 }),
    ]).toMatchObject([
      { message: 'params.limit: -1 is less than 0' },
      { message: 'params.sortDirection: "up" is none of "asc", "desc"' },
      { message: expect.stringContaining('params.cwd') },
    ]);
  });

  test('params that contradict each other, incomplete params, and invalid ids', async () => {
    const { client } = await startServer();
    const parentThreadId = NOBODY;
    expect([
      await client.refusal('thread/list', { parentThreadId, ancestorThreadId: NOBODY }),
      await client.refusal('thread/list', { sortKey: 'section_position' }),
      await client.refusal('thread/list', { includeAttachedThreads: true, searchTerm: '' }),
    ]).toEqual(
      [
        'params.parentThreadId and params.ancestorThreadId cannot be given together',
        'params.sortKey: "section_position" needs params.sectionId',
        'params.includeAttachedThreads needs params.searchTerm',
      ].map((message) => ({ code: -32600, message, data: { code: 'invalid_params' } })),
    );
    const params = [
      { parentThreadId: '' },
      { ancestorThreadId: 'x' },
      { attachedToThreadId: 'x' },
      { excludedThreadIds: [NOBODY, 'x'] },
    ];
    for (const param of params) {
      expect(await client.refusal('thread/list', param)).toMatchObject({
        code: -32600,
        data: { code: 'invalid_thread_id' },
      });
    }
  });

  test('experimental params of clients without the experimental API', async () => {
    const { client } = await startServer({ capabilities: { experimentalApi: false } });
    const params = {
      parentThreadId: NOBODY,
      ancestorThreadId: NOBODY,
      attachedToThreadId: NOBODY,
      projectId: 'p',
      includeAttachedThreads: true,
    };
    for (const [name, value] of Object.entries(params)) {
      expect(await client.refusal('thread/list', { [name]: value })).toMatchObject({
        message: `thread/list.${name} requires experimentalApi capability`,
      });
    }
    const none = {
      parentThreadId: null,
      ancestorThreadId: null,
      attachedToThreadId: null,
      projectId: null,
      includeAttachedThreads: false,
    };
    expect(await client.request('thread/list', none)).toEqual(EMPTY);
  });
});

test('thread/list returns threads as thread/read does, newest first', async () => {
  const server = await withFiveThreads();
  const { data } = await server.client.request('thread/list', {});
  expect(data).toEqual(
    [5, 4, 3, 2, 1].map((count) => {
      const id = server.threads[count - 1] ?? '';
      const at = START + count - 1;
      const path = join(
        server.home,
        'sessions',
        '2026',
        '01',
        '01',
        `rollout-2026-01-01T00-00-0${count - 1}-${id}.jsonl`,
      );
      return threadOf(server, {
        id,
        preview: `thread ${count}`,
        createdAt: at,
        updatedAt: at,
        recencyAt: at,
        path,
      });
    }),
  );
  const first = await server.client.request('thread/read', { threadId: server.threads[4] ?? '' });
  expect(data[0]).toEqual(first.thread);
});

test('after a restart the threads are listed as not loaded', async () => {
  const server = await withFiveThreads();
  const { client } = await server.restart();
  const { data } = await client.request('thread/list', {});
  expect(data.map(({ status }) => status)).toEqual(
    Array.from({ length: 5 }, () => ({ type: 'notLoaded' })),
  );
});

test('pages continue with older threads, and back', async () => {
  const server = await withFiveThreads();
  const first = await page(server, { limit: 2 });
  expect(first.previews).toEqual(['thread 5', 'thread 4']);
  const second = await page(server, { limit: 2, cursor: first.nextCursor });
  expect(second.previews).toEqual(['thread 3', 'thread 2']);
  const third = await page(server, { limit: 2, cursor: second.nextCursor });
  expect(third).toEqual({
    previews: ['thread 1'],
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
  const back = await page(server, {
    limit: 2,
    cursor: second.backwardsCursor,
    sortDirection: 'asc',
  });
  expect(back.previews).toEqual(['thread 3', 'thread 4']);
  const newest = await page(server, { limit: 2, cursor: back.nextCursor, sortDirection: 'asc' });
  expect(newest).toEqual({
    previews: ['thread 5'],
    nextCursor: null,
    backwardsCursor: expect.any(String),
  });
});

test('pages in the other direction begin with the oldest', async () => {
  const server = await withFiveThreads();
  const first = await page(server, { limit: 3, sortDirection: 'asc' });
  expect(first.previews).toEqual(['thread 1', 'thread 2', 'thread 3']);
  expect(await previews(server, { cursor: first.nextCursor, sortDirection: 'asc' })).toEqual([
    'thread 4',
    'thread 5',
  ]);
});

test('a page that ends with the last thread has no next page, and a limit of 0 counts as 1', async () => {
  const server = await withFiveThreads();
  expect((await page(server, { limit: 5 })).nextCursor).toBe(null);
  expect(await previews(server, { limit: 0 })).toEqual(['thread 5']);
  expect(await previews(server, { limit: 4_294_967_295 })).toHaveLength(5);
});

test('a cursor continues from its thread with other filters too, and if that thread is no longer in the list', async () => {
  const server = await withFiveThreads();
  const { nextCursor: cursor } = await page(server, { limit: 2 });
  expect(await previews(server, { cursor, searchTerm: 'THREAD 1' })).toEqual(['thread 1']);
  expect(await previews(server, { cursor, searchTerm: 'thread 5' })).toEqual([]);
  expect(await previews(server, { cursor, sortDirection: 'asc' })).toEqual(['thread 5']);
  const next = await server.restart();
  await next.store.updateThread(server.threads[3] ?? '', { archivedAtMs: 1 });
  expect(await previews(next, { cursor })).toEqual(['thread 3', 'thread 2', 'thread 1']);
});

test('a new thread does not shift the pages of a client', async () => {
  const server = await withFiveThreads();
  const first = await page(server, { limit: 2 });
  await threadWith(server, [['thread 6', 'ok']]);
  expect(await previews(server, { limit: 2, cursor: first.nextCursor })).toEqual([
    'thread 3',
    'thread 2',
  ]);
});

describe('a thread whose first deed is no message', () => {
  const listed = async ({ client }: Pick<TestServer, 'client'>) =>
    (await client.request('thread/list', {})).data.map(({ id, preview }) => [id, preview]);

  test('a goal: it is listed with the objective, also after its first message and a restart', async () => {
    const server = await startServer();
    const { thread } = await server.client.request('thread/start', {});
    expect(await listed(server)).toEqual([]);
    await server.client.request('thread/goal/set', {
      threadId: thread.id,
      objective: ' Tidy up ',
      status: 'paused',
    });
    expect(await listed(server)).toEqual([[thread.id, 'Tidy up']]);
    server.model.push(response(message('ok')));
    await server.client.turn(thread.id, 'hello');
    expect(await listed(await server.restart())).toEqual([[thread.id, 'Tidy up']]);
  });

  test('a goal: its forks are listed with its preview too, without a goal, also after a restart and their first message', async () => {
    const server = await startServer();
    const { thread } = await server.client.request('thread/start', {});
    await server.client.request('thread/goal/set', {
      threadId: thread.id,
      objective: 'Tidy up',
      status: 'paused',
    });
    const fork = (await server.client.request('thread/fork', { threadId: thread.id })).thread;
    const again = (await server.client.request('thread/fork', { threadId: fork.id })).thread;
    const all = new Set([thread, fork, again].map(({ id }) => [id, 'Tidy up']));
    expect([fork.preview, again.preview]).toEqual(['Tidy up', 'Tidy up']);
    expect(new Set(await listed(server))).toEqual(all);
    const next = await server.restart();
    expect(new Set(await listed(next))).toEqual(all);
    const resumed = (await next.client.request('thread/resume', { threadId: fork.id })).thread;
    expect([resumed.preview, resumed.turns]).toEqual(['Tidy up', []]);
    expect(await next.client.request('thread/goal/get', { threadId: fork.id })).toEqual({
      goal: null,
    });
    next.model.push(response(message('ok')));
    await next.client.turn(fork.id, 'hello');
    expect(new Set(await listed(next))).toEqual(all);
  });

  test('a command: it is listed with the command, until its first message or goal, over restarts', async () => {
    const server = await startServer();
    const start = async () => (await server.client.request('thread/start', {})).thread.id;
    const [said, aimed, forked] = [await start(), await start(), await start()];
    for (const threadId of [said, aimed, forked]) {
      await server.client.request('thread/shellCommand', { threadId, command: 'echo one' });
      await server.client.waitFor('turn/completed', (params) => params.threadId === threadId);
      await server.client.request('thread/shellCommand', { threadId, command: 'echo two' });
      await server.client.waitFor('turn/completed', (params) => params.threadId === threadId);
    }
    const next = await server.restart();
    expect(new Set(await listed(next))).toEqual(
      new Set([said, aimed, forked].map((id) => [id, 'echo one'])),
    );
    await next.client.request('thread/goal/set', {
      threadId: aimed,
      objective: 'Tidy up',
      status: 'paused',
    });
    next.model.push(response(message('ok')), response(message('ok')));
    await next.client.request('thread/resume', { threadId: said });
    await next.client.turn(said, 'hello');
    const { thread } = await next.client.request('thread/fork', { threadId: forked });
    expect(thread.preview).toBe('echo one');
    await next.client.turn(thread.id, 'hello fork');
    const previews: [string, string][] = [
      [said, 'hello'],
      [aimed, 'Tidy up'],
      [forked, 'echo one'],
      [thread.id, 'hello fork'],
    ];
    expect(new Set(await listed(next))).toEqual(new Set(previews));
    expect(await listed(next)).toHaveLength(previews.length);
  });

  test('a command that is joined by a message: it is listed with the message', async () => {
    const server = await startServer({ model: new TestModel(response(message('ok'))) });
    const { thread } = await server.client.request('thread/start', {});
    await server.client.request('thread/shellCommand', {
      threadId: thread.id,
      command: 'mkfifo p; read x < p',
    });
    await server.client.waitFor('item/started', ({ item }) => item.type === 'commandExecution');
    const { turn } = await server.client.request('turn/start', {
      threadId: thread.id,
      input: text('hello'),
    });
    await writeFile(join(server.cwd, 'p'), 'it\n');
    await server.client.turnCompleted(turn.id);
    expect(await listed(server)).toEqual([[thread.id, 'hello']]);
  });
});

test('an empty list has no cursors', async () => {
  const { client } = await startServer();
  expect(await client.request('thread/list', {})).toEqual(EMPTY);
});

test('sortKey: by the last turn, or by the last change', async () => {
  const server = await withFiveThreads();
  server.model.push(response(message('ok')));
  await server.client.turn(server.threads[1] ?? '', 'again');
  expect(await previews(server, { limit: 2, sortKey: 'recency_at' })).toEqual([
    'thread 2',
    'thread 5',
  ]);
  expect(await previews(server, { limit: 2, sortKey: 'updated_at' })).toEqual([
    'thread 2',
    'thread 5',
  ]);
  expect(await previews(server, { limit: 2, sortKey: 'created_at' })).toEqual([
    'thread 5',
    'thread 4',
  ]);
});

test('archived threads are listed separately', async () => {
  const server = await withFiveThreads();
  const next = await server.restart();
  await next.store.updateThread(server.threads[2] ?? '', { archivedAtMs: 1 });
  expect(await previews(next, {})).toEqual(['thread 5', 'thread 4', 'thread 2', 'thread 1']);
  expect(await previews(next, { archived: true })).toEqual(['thread 3']);
});

test('cwd: threads in one folder or in several', async () => {
  const server = await startServer();
  const [a = '', b = '', c = ''] = ['a', 'b', 'c'].map((name) => join(server.folder, name));
  for (const cwd of [a, b, c]) {
    mkdirSync(cwd);
    await threadWith(server, [[cwd.slice(-1), 'ok']], { cwd });
  }
  expect(await previews(server, { cwd: a })).toEqual(['a']);
  expect(await previews(server, { cwd: `${a}/` })).toEqual(['a']);
  expect(await previews(server, { cwd: [a, c] })).toEqual(['c', 'a']);
  expect(await previews(server, { cwd: server.folder })).toEqual([]);
  expect(await previews(server, { cwd: [] })).toEqual([]);
  expect(await previews(server, { cwd: '' })).toEqual([]);
  expect(await previews(server, { cwd: 'a' })).toEqual([]);
});

test('modelProviders: the configured one by default, the named ones, or all with an empty list', async () => {
  const server = await startServer();
  await threadWith(server, [['mine', 'ok']]);
  await threadWith(server, [['other', 'ok']], { modelProvider: 'scripted' });
  expect(await previews(server, {})).toEqual(['mine']);
  expect(await previews(server, { modelProviders: null })).toEqual(['mine']);
  // Both are names of the embedded model.
  for (const name of ['scripted', 'embedded'])
    expect(await previews(server, { modelProviders: [name] })).toEqual(['other']);
  expect(await previews(server, { modelProviders: ['none'] })).toEqual([]);
  expect(await previews(server, { modelProviders: [] })).toEqual(['other', 'mine']);
});

test('sourceKinds: interactive threads by default', async () => {
  const server = await withFiveThreads();
  expect(await previews(server, { sourceKinds: [], limit: 1 })).toEqual(['thread 5']);
  expect(await previews(server, { sourceKinds: ['vscode'], limit: 1 })).toEqual(['thread 5']);
  expect(await previews(server, { sourceKinds: ['exec', 'subAgent'] })).toEqual([]);
});

test('excludedThreadIds and originators', async () => {
  const server = await withFiveThreads();
  const [one = '', two = '', three = ''] = server.threads;
  expect(await previews(server, { excludedThreadIds: [two, three.toUpperCase(), NOBODY] })).toEqual(
    ['thread 5', 'thread 4', 'thread 1'],
  );
  expect(
    await previews(server, { excludedThreadIds: [one], limit: 2, sortDirection: 'asc' }),
  ).toEqual(['thread 2', 'thread 3']);
  expect(await previews(server, { excludedThreadIds: [] })).toHaveLength(5);
  const { originator } = (await server.client.request('thread/read', { threadId: one })).thread;
  expect(await previews(server, { originators: ['another', originator ?? ''], limit: 1 })).toEqual([
    'thread 5',
  ]);
  expect(await previews(server, { originators: ['another'] })).toEqual([]);
  for (const originators of [[], null])
    expect(await previews(server, { originators })).toHaveLength(5);
});

test('lists of sections, projects and threads below another are empty; forks are not children', async () => {
  const server = await withFiveThreads();
  const threadId = server.threads[0] ?? '';
  server.model.push(response(message('ok')));
  const fork = await server.client.request('thread/fork', { threadId });
  await server.client.turn(fork.thread.id, 'on');
  const groups: ThreadListParams[] = [
    { sectionId: 'a section' },
    { sectionId: 'a section', sortKey: 'section_position', sortDirection: 'asc' },
    { projectId: 'a project' },
    { parentThreadId: threadId },
    { ancestorThreadId: threadId },
    { attachedToThreadId: threadId },
  ];
  for (const group of groups)
    expect(await server.client.request('thread/list', group)).toEqual(EMPTY);
  expect(await previews(server, { includeAttachedThreads: true, searchTerm: 'thread 2' })).toEqual([
    'thread 2',
  ]);
});

test('params without effect in a server with one account and one store', async () => {
  const server = await withFiveThreads();
  expect(await previews(server, { currentAccountOnly: true, useStateDbOnly: true })).toHaveLength(
    5,
  );
});

test('searchTerm finds parts of the preview and of the name in any case; % has no special meaning', async () => {
  const server = await startServer();
  await threadWith(server, [['find the Needle here', 'ok']]);
  const { thread } = await threadWith(server, [['only hay', 'ok']]);
  await server.client.request('thread/name/set', { threadId: thread.id, name: 'Payroll job' });
  expect(await previews(server, { searchTerm: 'needle' })).toEqual(['find the Needle here']);
  expect(await previews(server, { searchTerm: 'payroll' })).toEqual(['only hay']);
  expect(await previews(server, { searchTerm: 'AY' })).toEqual(['only hay']);
  expect(await previews(server, { searchTerm: 'y"' })).toEqual([]);
  expect(await previews(server, { searchTerm: 'a\0\ud800' })).toEqual([]);
  expect(await previews(server, { searchTerm: 'x'.repeat(100_000) })).toEqual([]);
  expect(await previews(server, { searchTerm: '%' })).toEqual([]);
  expect(await previews(server, { searchTerm: '' })).toHaveLength(2);
});

test('while the configuration is broken, the list has the threads of all providers', async () => {
  const server = await withFiveThreads();
  const next = await server.restart({ config: 'model_provider = [' });
  await next.client.waitFor('configWarning');
  expect(await previews(next, { limit: 1 })).toEqual(['thread 5']);
});
