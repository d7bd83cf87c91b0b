// @module-tag slow
import { describe, expect, test } from 'vitest';
import { idOf } from '../../store/samples.ts';
import { HostileServer } from '../hostile/hostile-server.ts';
import { fillHistory } from './fill-history.ts';

const MB = 1024 * 1024;
const BLOCK_MS_MAX = 25;

describe('a history of 300 messages of 1 MB, in a server with a heap of 160 MB', () => {
  async function started(): Promise<HostileServer> {
    const server = await HostileServer.start({}, '--max-old-space-size=160');
    await fillHistory(server.home, { thread: 1, turns: 5, messages: 60, chars: MB });
    return server;
  }

  test('answers that would have all of it are refused at once, with its size and the method that pages', {
    timeout: 120_000,
  }, async () => {
    const server = await started();
    const { heddle } = server;
    const before = server.restartGrowth();
    for (const [method, params] of [
      ['thread/read', { includeTurns: true }],
      ['thread/resume', {}],
      ['thread/fork', {}],
    ] as const) {
      const error = await server.unblocked(BLOCK_MS_MAX, () =>
        heddle.refusal(method, { threadId: idOf(1), ...params }),
      );
      expect(error).toMatchObject({
        code: -32600,
        data: { code: 'answer_too_large', threadId: expect.any(String) },
      });
      expect(error.data.bytes).toBeGreaterThan(300 * MB);
      expect(error.message).toMatch(
        /thread\/turns\/list \(params: threadId, cursor, limit, itemsView\)/,
      );
    }
    expect((await heddle.request('thread/loaded/list', {})).data).toEqual([]);
    expect(server.growthMb(before)).toBeLessThan(150);
  });

  test('pages end early and go on by cursor, and other answers come in time', {
    timeout: 120_000,
  }, async () => {
    const server = await started();
    const { heddle } = server;
    const threadId = idOf(1);
    const page = await server.unblocked(BLOCK_MS_MAX, () =>
      heddle.request('thread/items/list', { threadId, limit: 1000 }),
    );
    expect(page.data).toHaveLength(4);
    const next = await server.unblocked(BLOCK_MS_MAX, () =>
      heddle.request('thread/items/list', { threadId, limit: 1000, cursor: page.nextCursor }),
    );
    expect(next.data.map(({ item }) => item.id)).toEqual(
      [3, 4, 5].map((index) => `${threadId} turn 1 answer ${index}`),
    );
    const summary = await server.unblocked(BLOCK_MS_MAX, () =>
      heddle.request('thread/turns/list', { threadId, limit: 1000 }),
    );
    expect(summary.data.map(({ id }) => id)).toEqual(
      [5, 4, 3].map((turn) => `${threadId} turn ${turn}`),
    );
    const error = await heddle.refusal('thread/turns/list', { threadId, itemsView: 'full' });
    expect(error.data).toMatchObject({ code: 'answer_too_large', turnId: `${threadId} turn 5` });
    expect(error.message).toMatch(
      /itemsView "summary", and its items in pages with thread\/items\/list/,
    );
  });

  test('a turn compacts the history first, and other threads go on', {
    timeout: 120_000,
  }, async () => {
    const server = await started();
    const { heddle } = server;
    await heddle.request('thread/resume', { threadId: idOf(1), excludeTurns: true });
    const turn = await server.unblocked(BLOCK_MS_MAX, () => heddle.turn(idOf(1), 'hi'));
    expect(turn).toMatchObject({ status: 'completed', error: null });
    const completed = heddle
      .notifications('item/completed', ({ turnId }) => turnId === turn.id)
      .map(({ item }) => item.type);
    expect(completed).toContain('contextCompaction');
    const { thread } = await heddle.request('thread/fork', {
      threadId: idOf(1),
      beforeTurnId: `${idOf(1)} turn 1`,
      excludeTurns: true,
    });
    expect(await heddle.turn(thread.id, 'hi')).toMatchObject({ status: 'completed' });
  });
});

test('many large answers at once are made one after another', { timeout: 240_000 }, async () => {
  const server = await HostileServer.start({}, '--max-old-space-size=128');
  const { heddle } = server;
  const threads = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const thread of threads)
    await fillHistory(server.home, { thread, turns: 4, messages: 4, chars: MB });
  const before = server.restartGrowth();
  await server.unblocked(BLOCK_MS_MAX * 2, () =>
    Promise.all(
      threads.map(async (number) => {
        const { thread } = await heddle.request('thread/read', {
          threadId: idOf(number),
          includeTurns: true,
        });
        expect(thread.turns.map(({ items }) => items.length)).toEqual([5, 5, 5, 5]);
        thread.turns.length = 0;
      }),
    ),
  );
  expect(server.growthMb(before)).toBeLessThan(300);
});
