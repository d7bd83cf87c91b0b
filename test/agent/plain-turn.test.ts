import { expect, test } from 'vitest';
import { BASE_INSTRUCTIONS } from '../../src/instructions/base-instructions.ts';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, begun, START, START_MS, timed, turnOf, userItem } from '../support/expected.ts';
import { gatedStore } from '../support/gated-store.ts';
import {
  asked,
  functionCall,
  message,
  reasoning,
  response,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

test('all messages of a plain turn, from its request to its end', async () => {
  const server = await startServer({
    model: new TestModel(
      response(reasoning('because'), message('Hello', { deltas: ['Hel', 'lo'] })),
    ),
  });
  await server.client.request('thread/start', {});
  const before = server.client.messages.length;
  const { id: turnId } = await server.client.turn(idOf(1), 'hi');
  const ids = { threadId: idOf(1), turnId };
  const [user, thought, answer] = server.client
    .notifications('item/started')
    .map(({ item }) => item.id);
  const reasoningItem = timed({
    type: 'reasoning',
    id: thought ?? '',
    summary: ['because'],
    content: [],
  });
  const started = (item: ThreadItem) => ({
    method: 'item/started',
    params: { ...ids, item: begun(item), startedAtMs: START_MS },
  });
  const completed = (item: object) => ({
    method: 'item/completed',
    params: { ...ids, item, completedAtMs: START_MS },
  });
  const inProgress = turnOf({
    id: turnId,
    itemsView: 'notLoaded',
    status: 'inProgress',
    startedAt: null,
    completedAt: null,
    durationMs: null,
  });
  expect(server.client.messages.slice(before)).toEqual([
    { id: 3, result: { turn: inProgress } },
    {
      method: 'thread/status/changed',
      params: { threadId: idOf(1), status: { type: 'active', activeFlags: [] } },
    },
    {
      method: 'turn/started',
      params: { threadId: idOf(1), turn: { ...inProgress, startedAt: START } },
    },
    started(userItem('hi', { id: user ?? '' })),
    completed(userItem('hi', { id: user ?? '' })),
    started({ ...reasoningItem, summary: [] }),
    {
      method: 'item/reasoning/summaryPartAdded',
      params: { ...ids, itemId: thought, summaryIndex: 0 },
    },
    {
      method: 'item/reasoning/summaryTextDelta',
      params: { ...ids, itemId: thought, summaryIndex: 0, delta: 'because' },
    },
    completed(reasoningItem),
    started(agentItem('', { id: answer ?? '' })),
    { method: 'item/agentMessage/delta', params: { ...ids, itemId: answer, delta: 'Hel' } },
    { method: 'item/agentMessage/delta', params: { ...ids, itemId: answer, delta: 'lo' } },
    completed(agentItem('Hello', { id: answer ?? '' })),
    {
      method: 'thread/tokenUsage/updated',
      params: { ...ids, tokenUsage: { total: USAGE, last: USAGE, modelContextWindow: 258_400 } },
    },
    { method: 'thread/status/changed', params: { threadId: idOf(1), status: { type: 'idle' } } },
    {
      method: 'turn/completed',
      params: {
        threadId: idOf(1),
        turn: turnOf({
          id: turnId,
          itemsView: 'summary',
          items: [agentItem('Hello', { id: answer ?? '' })],
        }),
      },
    },
  ]);
  expect(new Set([idOf(1), turnId, user, thought, answer]).size).toBe(5);
});

test('the whole request to the model in the first turn', async () => {
  const server = await startServer({ model: new TestModel(response(message('ok'))) });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi');
  expect(server.model.requests).toEqual([
    {
      model: 'test-model',
      instructions: BASE_INSTRUCTIONS,
      input: [
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: expect.stringMatching(/^Permissions\n/) }],
        },
        asked(
          `<environment_context>\n  <cwd>${server.cwd}</cwd>\n  <shell>sh</shell>\n  <date>2026-01-01</date>\n</environment_context>`,
        ),
        asked('hi'),
      ],
      tools: [
        ...[
          'exec_command',
          'write_stdin',
          'apply_patch',
          'update_plan',
          'request_user_input',
          'view_image',
          'spawn_agent',
          'send_input',
          'resume_agent',
          'wait_agent',
          'close_agent',
        ],
        ...['get_goal', 'create_goal', 'update_goal'],
      ].map((name) => expect.objectContaining({ name })),
      effort: null,
      summary: null,
      outputSchema: null,
      serviceTier: null,
      verbosity: null,
      promptCacheKey: idOf(1),
      headers: expect.objectContaining({ 'thread-id': idOf(1) }),
      clientMetadata: expect.objectContaining({ thread_id: idOf(1) }),
    },
  ]);
});

test('a later request begins with the one before it, so that a provider can cache it', async () => {
  const server = await startServer({
    model: new TestModel(
      response(reasoning('because'), message('first')),
      response(message('second')),
    ),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'one');
  await server.client.turn(idOf(1), 'two');
  const [first, second] = server.model.requests;
  expect(second?.input.slice(0, first?.input.length)).toEqual(first?.input);
  // Who asks is told beside the prompt, and names the turn.
  const apart = { input: [], headers: null, clientMetadata: null };
  expect({ ...second, ...apart }).toEqual({ ...first, ...apart });
  expect(second?.input.slice(first?.input.length)).toEqual([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'because' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'first' }] },
    asked('two'),
  ]);
});

test('the model is told the date when it has changed', async () => {
  const server = await startServer({
    model: new TestModel(response(message('first')), response(message('second'))),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'one');
  server.clock.advance(24 * 60 * 60 * 1000);
  await server.client.turn(idOf(1), 'two');
  const added = server.model.request(2).input.slice(server.model.request(1).input.length + 1);
  expect(added).toEqual([asked(expect.stringContaining('<date>2026-01-02</date>')), asked('two')]);
});

test('the token usage of a thread is the sum of its requests; a response without usage changes nothing', async () => {
  const usage = (n: number) => ({
    totalTokens: 11 * n,
    inputTokens: 10 * n,
    cachedInputTokens: 4 * n,
    cacheWriteInputTokens: 2 * n,
    outputTokens: n,
    reasoningOutputTokens: n,
  });
  const server = await startServer({
    config: 'model = "m"\nmodel_provider = "scripted"\nmodel_context_window = 1000\n',
    model: new TestModel(
      [...message('a'), { type: 'completed', usage: usage(1) }],
      [...message('b'), { type: 'completed', usage: null }],
      [...message('c'), { type: 'completed', usage: usage(2) }],
    ),
  });
  await server.client.request('thread/start', {});
  const turns = [];
  for (const said of ['one', 'two', 'three'])
    turns.push((await server.client.turn(idOf(1), said)).id);
  expect(server.client.notifications('thread/tokenUsage/updated')).toEqual([
    {
      threadId: idOf(1),
      turnId: turns[0],
      tokenUsage: { total: usage(1), last: usage(1), modelContextWindow: 1000 },
    },
    {
      threadId: idOf(1),
      turnId: turns[2],
      tokenUsage: { total: usage(3), last: usage(2), modelContextWindow: 1000 },
    },
  ]);
});

test('a slow store does not change the order of the notifications', async () => {
  const told = async (rounds: number) => {
    const server = await startServer({
      model: new TestModel(
        response(
          reasoning('because'),
          message('on it', { deltas: ['on', ' it'] }),
          functionCall('update_plan', { plan: [] }),
        ),
        response(message('done')),
      ),
      wrapStore: (store) =>
        gatedStore(store, async () => {
          for (let round = 0; round < rounds; round++)
            await new Promise((resolve) => setImmediate(resolve));
        }),
    });
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'hi');
    return server.client.messages.map(({ method }) => method);
  };
  expect(await told(3)).toEqual(await told(0));
});

test('only the end of a turn is stored durably against a crash of the machine', async () => {
  const durable: [boolean, string | undefined][] = [];
  const server = await startServer({
    model: new TestModel(response(reasoning('because'), message('ok'))),
    wrapStore: (store) =>
      gatedStore(store, (write) => {
        durable.push([write.durable, write.entries.at(-1)?.kind]);
      }),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi');
  expect(durable.filter(([isDurable]) => isDurable)).toEqual([[true, 'turnEnded']]);
});

test('turns of two threads that run in parallel do not mix', async () => {
  const server = await startServer();
  const threads = [];
  for (let count = 0; count < 4; count++)
    threads.push((await server.client.request('thread/start', {})).thread.id);
  server.model.push(
    ...threads.map(
      () =>
        ({ input }: { input: unknown[] }) =>
          response(message(`to ${JSON.stringify(input.at(-1)).match(/from \d/)?.[0]}`)),
    ),
  );
  const turns = await Promise.all(
    threads.map((threadId, index) => server.client.turn(threadId, `from ${index}`)),
  );
  expect(turns.map(({ items }) => items)).toEqual(
    [0, 1, 2, 3].map((index) => [agentItem(`to from ${index}`)]),
  );
  for (const [index, threadId] of threads.entries()) {
    const own = server.client.notifications(
      'item/completed',
      (params) => params.threadId === threadId,
    );
    expect(own.map(({ turnId, item }) => [turnId, item])).toEqual([
      [turns[index]?.id, userItem(`from ${index}`)],
      [turns[index]?.id, agentItem(`to from ${index}`)],
    ]);
  }
});
