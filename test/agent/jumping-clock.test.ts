import { expect, test } from 'vitest';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import { message, response } from '../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
} from '../tools/command-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test.each([DAY_MS, -DAY_MS])(
  'a wall clock that jumps by %i ms changes no duration',
  async (jumpMs) => {
    const gate = new Gate();
    const server = await commandServer([
      runs('echo up; sleep 1000', { login: false }),
      response([gate], message('done')),
    ]);
    const goal = { threadId: THREAD, objective: 'all of it', tokenBudget: 1_000_000 };
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await says(server, 'up\n');
    await server.client.request('thread/goal/set', goal);
    server.clock.jump(jumpMs);
    await server.clock.timerOf(10_000);
    server.clock.advance(10_000);
    await gate.reached;
    server.clock.jump(2 * jumpMs);
    await server.client.request('thread/goal/set', { ...goal, status: 'paused' });
    gate.open();
    const { durationMs } = await server.client.turnCompleted(turn.id);
    expect(durationMs).toBe(10_000);
    const { thread } = await server.client.request('thread/read', {
      threadId: THREAD,
      includeTurns: true,
    });
    expect(thread.turns[0]?.durationMs).toBe(10_000);
    expect(modelOutput(server)).toContain('Wall time: 10.0000 seconds');
    const { goal: after } = await server.client.request('thread/goal/get', { threadId: THREAD });
    expect(after?.timeUsedSeconds).toBe(10);
    await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
    await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
    expect(completed(server)).toMatchObject([{ durationMs: 10_000 }]);
  },
);

test('a command that ends by itself has the duration of the monotonic clock', async () => {
  const server = await commandServer([runs('echo up; read x', { login: false, tty: true }), done]);
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  server.clock.jump(-DAY_MS);
  await server.clock.timerOf(10_000);
  server.clock.advance(10_000);
  await turn;
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  expect(completed(server)).toMatchObject([{ durationMs: 10_000 }]);
});
