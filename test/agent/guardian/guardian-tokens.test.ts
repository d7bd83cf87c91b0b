import { expect, test } from 'vitest';
import { functionCall, message, response, USAGE } from '../../support/test-model.ts';
import { THREAD } from '../../tools/command-server.ts';
import { ALLOW, assesses, guarded, runsAs } from './guardian-server.ts';

const ends = response(message('done'));
const touches = response(runsAs('c1', 'touch a'));
/** The guardian reads a file first, so that a review has two requests. */
const reviews = [
  response(functionCall('read_file', { path: 'a' }, { callId: 'r1' })),
  assesses(ALLOW),
];

test('the tokens of a review count in the usage of the thread, but not as its last request', async () => {
  const server = await guarded({ turns: [touches, ends], reviews });
  await server.client.turn(THREAD, 'go');
  const counted = server.client
    .notifications('thread/tokenUsage/updated')
    .map(({ tokenUsage }) => tokenUsage);
  expect(counted.map(({ total }) => total.totalTokens)).toEqual(
    [1, 2, 3, 4].map((count) => count * USAGE.totalTokens),
  );
  expect(counted.map(({ last }) => last)).toEqual(counted.map(() => USAGE));
});

test('the tokens of a review count in the budget of the goal', async () => {
  const server = await guarded({ turns: [touches, ends], reviews });
  await server.client.request('thread/goal/set', { threadId: THREAD, objective: 'Create a.' });
  const { turn } = await server.client.waitFor('turn/completed');
  const charged = server.client
    .notifications('thread/goal/updated')
    .filter(({ turnId }) => turnId === turn.id);
  const each = USAGE.inputTokens - USAGE.cachedInputTokens + USAGE.outputTokens;
  expect(new Set(charged.map(({ goal }) => goal.tokensUsed))).toEqual(
    new Set([1, 2, 3, 4].map((count) => count * each)),
  );
});
