import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  message,
  messageBegun,
  response,
  type Step,
  TestModel,
  USAGE,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const threadId = idOf(1);

function compactions({ client }: Pick<TestServer, 'client'>): number {
  return client
    .notifications('item/completed')
    .filter(({ item }) => item.type === 'contextCompaction').length;
}

test('what was said before an interrupted response counts for the length of the next request', async () => {
  const model = new TestModel();
  const server = await startServer({ model, overrides: ['model_context_window=8000'] });
  const { client } = server;
  await client.request('thread/start', {});
  model.push(response(message('one')));
  await client.turn(threadId, 'one');
  model.push([...messageBegun('Half of '), new Gate()]);
  const { turn } = await client.request('turn/start', {
    threadId,
    input: text('word '.repeat(3_200)),
  });
  await client.waitFor('item/agentMessage/delta', ({ turnId }) => turnId === turn.id);
  await client.request('turn/interrupt', { threadId, turnId: turn.id });
  await client.turnCompleted(turn.id);
  model.push(response(message('the summary')), response(message('three')));
  expect(await client.turn(threadId, 'word '.repeat(3_200))).toMatchObject({ status: 'completed' });
  expect(compactions(server)).toBe(1);
});

test.each([
  ['total', 1],
  ['body_after_prefix', 0],
])('model_auto_compact_token_limit_scope = "%s"', async (scope, afterTwo) => {
  const usage = (inputTokens: number) => ({
    ...USAGE,
    inputTokens,
    totalTokens: inputTokens + USAGE.outputTokens,
  });
  const answered = (tokens: number): Step[] => [
    ...message('an answer'),
    { type: 'completed', usage: usage(tokens) },
  ];
  const model = new TestModel(...[4_000, 4_010, 4_020, 8_000, 8_010, 8_020, 8_030].map(answered));
  const overrides = [
    'model_auto_compact_token_limit=3000',
    `model_auto_compact_token_limit_scope="${scope}"`,
  ];
  const server = await startServer({ model, overrides });
  await server.client.request('thread/start', {});
  await server.client.turn(threadId, 'word '.repeat(3_000));
  await server.client.turn(threadId, 'short');
  expect(compactions(server)).toBe(afterTwo);
  await server.client.turn(threadId, 'word '.repeat(3_000));
  await server.client.turn(threadId, 'short');
  expect(compactions(server)).toBeGreaterThan(0);
});
