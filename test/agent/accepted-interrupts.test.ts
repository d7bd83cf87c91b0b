import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { text } from '../support/test-client.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** The turns of the event loop after which a turn is interrupted, at most. */
const ROUNDS_MAX = 40;

test('an interrupt that comes at any moment of a turn is refused, or the turn ends interrupted', {
  tags: 'slow',
}, async () => {
  const plans = response(
    functionCall('update_plan', { plan: [{ step: 'Look', status: 'pending' }] }),
  );
  // Of a turn that is interrupted, the next one gets what is left.
  const responses = Array.from({ length: ROUNDS_MAX }, () => [
    plans,
    plans,
    plans,
    response(message('Hello.')),
  ]).flat();
  const { client } = await startServer({ model: new TestModel(...responses) });
  const { thread } = await client.request('thread/start', {});
  const outcomes = new Set<string>();
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    const { turn } = await client.request('turn/start', { threadId: thread.id, input: text('go') });
    for (let round = 0; round < rounds; round++) await setImmediate();
    const answer = await client.ask('turn/interrupt', { threadId: thread.id, turnId: turn.id });
    const { status } = await client
      .first(
        'turn/completed',
        ({ method, params }) =>
          method === 'turn/completed' && (params as { turn: { id: string } }).turn.id === turn.id,
      )
      .then(({ params }) => (params as { turn: { status: string } }).turn);
    const accepted = answer.error === undefined;
    expect([rounds, status]).toEqual([rounds, accepted ? 'interrupted' : 'completed']);
    outcomes.add(status);
    const { thread: read } = await client.request('thread/read', {
      threadId: thread.id,
      includeTurns: true,
    });
    expect(read.turns.at(-1)?.status).toBe(status);
  }
  expect(outcomes).toEqual(new Set(['interrupted', 'completed']));
});
