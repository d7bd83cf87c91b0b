import { expect, test } from 'vitest';
import {
  answered,
  completed,
  created,
  hangingReply,
  ProviderServer,
  streaming,
} from '../model/provider-server.ts';
import { place, providerToml, startHeddle } from './support.ts';

const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'update_goal',
  arguments: '{"status":"complete"}',
};
const completing = streaming(
  created,
  { type: 'response.output_item.done', output_index: 0, item: call },
  completed,
);

test('a goal survives kill -9, and the thread goes on towards it when it is resumed', async () => {
  const first = hangingReply();
  await using provider = await ProviderServer.start(first.reply, completing, answered);
  const where = place({ 'config.toml': providerToml(provider.port) });
  const killed = await startHeddle(where);
  const { thread } = await killed.request('thread/start', {});
  const { goal } = await killed.request('thread/goal/set', {
    threadId: thread.id,
    objective: 'all green',
    tokenBudget: 1_000_000,
  });
  const { turn } = await killed.waitFor('turn/started');
  await first.asked;
  await killed.kill();

  const heddle = await startHeddle(where);
  expect(await heddle.request('thread/goal/get', { threadId: thread.id })).toEqual({ goal });
  const resumed = await heddle.request('thread/resume', { threadId: thread.id });
  expect(resumed.thread.turns.map(({ id, status }) => [id, status])).toEqual([
    [turn.id, 'interrupted'],
  ]);
  const { goal: done } = await heddle.waitFor(
    'thread/goal/updated',
    (params) => params.goal.status === 'complete',
  );
  expect(done).toMatchObject({ objective: 'all green', createdAt: goal.createdAt });
  const { turn: second } = await heddle.waitFor('turn/completed');
  expect([second.status, second.id > turn.id]).toEqual(['completed', true]);
  expect((await heddle.finish()).code).toBe(0);
});
