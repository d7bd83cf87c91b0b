import { expect, test } from 'vitest';
import { place, startHeddle } from './support.ts';

const UNCOMMITTED = { type: 'uncommittedChanges' } as const;
const LEFT = { type: 'exitedReviewMode', review: 'The review was cut off before it was complete.' };

/** A script whose reviewer runs a command that goes on until it is killed. */
const SCRIPT = JSON.stringify({
  responses: [
    [{ call: 'exec_command', arguments: { cmd: 'echo begun; sleep 600', yield_time_ms: 30_000 } }],
    [{ message: 'after' }],
  ],
});
const CONFIG = 'model_provider = "scripted"\n';

test('a review that kill -9 cuts off, with a command that runs, is read and resumed as ended, once, and the thread goes on', async () => {
  const where = place({ 'config.toml': CONFIG, 'script.json': SCRIPT });
  const heddle = await startHeddle(where, {
    args: ['-c', `model_providers.scripted.script="${where.home}/script.json"`],
  });
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('review/start', {
    threadId: thread.id,
    target: UNCOMMITTED,
  });
  await heddle.waitFor('item/commandExecution/outputDelta', ({ delta }) => delta.includes('begun'));
  await heddle.kill();
  const next = await startHeddle(where);
  const read = await next.request('thread/read', { threadId: thread.id, includeTurns: true });
  const resumed = await next.request('thread/resume', { threadId: thread.id });
  expect(resumed.thread.turns).toEqual(read.thread.turns);
  expect(resumed.thread.turns).toMatchObject([{ id: turn.id, status: 'interrupted' }]);
  const items = resumed.thread.turns[0]?.items ?? [];
  expect(items.map(({ type }) => type)).toEqual([
    'enteredReviewMode',
    'commandExecution',
    'exitedReviewMode',
  ]);
  expect(items).toMatchObject([{ review: 'current changes' }, { status: 'failed' }, LEFT]);
  expect(await next.turn(thread.id, 'say hello')).toMatchObject({
    status: 'completed',
    error: null,
  });
  const again = await next.request('review/start', { threadId: thread.id, target: UNCOMMITTED });
  expect((await next.turnCompleted(again.turn.id)).status).toBe('completed');
});
