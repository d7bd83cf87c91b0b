import { expect, test } from 'vitest';
import { question } from '../../support/asking.ts';
import { text } from '../../support/test-client.ts';
import { message, response } from '../../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  says,
  THREAD,
} from '../../tools/command-server.ts';

const CONFIG = `approval_timeout_ms = 5000\n${FREE_CONFIG.replace('"never"', '"untrusted"')}`;
const ends = response(message('done'));

test('thread/increment_elicitation pauses the deadlines of questions until thread/decrement_elicitation has ended all', async () => {
  const server = await commandServer([runs('touch a'), ends], { config: CONFIG });
  const methods = {
    increment: 'thread/increment_elicitation',
    decrement: 'thread/decrement_elicitation',
  } as const;
  const count = (by: keyof typeof methods) =>
    server.client.request(methods[by], { threadId: THREAD });
  expect(
    await server.client.refusal('thread/decrement_elicitation', { threadId: THREAD }),
  ).toMatchObject({ code: -32600 });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await question(server.client, 'item/commandExecution/requestApproval');
  await server.clock.timerOf(5_000);
  server.clock.advance(3_000);
  expect([await count('increment'), await count('increment')]).toEqual([
    { count: 1, paused: true },
    { count: 2, paused: true },
  ]);
  server.clock.advance(60_000);
  expect([await count('decrement'), await count('decrement')]).toEqual([
    { count: 1, paused: true },
    { count: 0, paused: false },
  ]);
  expect(server.clock.timers).toContain(2_000);
  server.clock.advance(2_000);
  await server.client.turnCompleted(turn.id);
  expect(completed(server)).toMatchObject([{ status: 'failed' }]);
});

test('the questions of a client end with its connection', async () => {
  const server = await commandServer([runs('touch a'), ends], { config: CONFIG });
  const other = await server.connect();
  await other.request('thread/increment_elicitation', { threadId: THREAD });
  await other.request('thread/increment_elicitation', { threadId: THREAD });
  expect(await server.client.request('thread/increment_elicitation', { threadId: THREAD })).toEqual(
    { count: 3, paused: true },
  );
  await other.close();
  expect(await server.client.request('thread/decrement_elicitation', { threadId: THREAD })).toEqual(
    { count: 0, paused: false },
  );
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await question(server.client, 'item/commandExecution/requestApproval');
  await server.clock.timerOf(5_000);
  server.clock.advance(5_000);
  await server.client.turnCompleted(turn.id);
  expect(completed(server)).toMatchObject([{ status: 'failed' }]);
});

test('a client can end the question of another one', async () => {
  const server = await commandServer([]);
  const other = await server.connect();
  await other.request('thread/increment_elicitation', { threadId: THREAD });
  expect(await server.client.request('thread/decrement_elicitation', { threadId: THREAD })).toEqual(
    { count: 0, paused: false },
  );
  expect(await other.refusal('thread/decrement_elicitation', { threadId: THREAD })).toMatchObject({
    data: { code: 'no_elicitation' },
  });
});

test('the time of waits for commands does not pass during a question', async () => {
  const server = await commandServer([
    runs('echo up; sleep 1000', { yield_time_ms: 20_000, login: false }),
    done,
  ]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await says(server, 'up');
  await server.clock.timerOf(20_000);
  await server.client.request('thread/increment_elicitation', { threadId: THREAD });
  expect(server.clock.timers).not.toContain(20_000);
  server.clock.advance(60_000);
  await server.client.request('thread/decrement_elicitation', { threadId: THREAD });
  expect(server.clock.timers).toContain(20_000);
  server.clock.advance(20_000);
  await server.client.turnCompleted(turn.id);
  expect(modelOutput(server)).toContain('session ID');
});
