import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answered, hangingReply, ProviderServer } from '../model/provider-server.ts';
import { heldBecause, queue, turnsOf, waiting } from '../support/queue.ts';
import { runs } from '../support/runs.ts';
import { text } from '../support/test-client.ts';
import { place, providerToml, startHeddle } from './support.ts';

const ENTRIES = ['a', 'b', 'c', 'd', 'e', 'f'];
const RUNS = runs(10, 2);

test('what was added to a queue is there after kill -9, and has its turns once the thread is resumed', async () => {
  const first = hangingReply();
  await using provider = await ProviderServer.start(first.reply, answered);
  const where = place({ 'config.toml': providerToml(provider.port) });
  const killed = await startHeddle(where);
  const { thread } = await killed.request('thread/start', {});
  const threadId = thread.id;
  await killed.request('turn/start', { threadId, input: text('go') });
  await first.asked;
  const long = text('long '.repeat(100_000));
  await queue(killed, 'a', { threadId, input: long });
  await queue(killed, 'b', { threadId });
  const { data } = await killed.request('thread/queue/list', { threadId });
  await killed.kill();

  const heddle = await startHeddle(where);
  expect(await heddle.request('thread/queue/list', { threadId })).toEqual({
    data,
    nextCursor: null,
    heldBecause: 'threadNotLoaded',
  });
  await heddle.request('thread/resume', { threadId });
  for (let ended = 0; ended < 2; )
    ended = (await turnsOf(heddle, threadId)).filter((turn) => turn.endsWith(': completed')).length;
  expect((await turnsOf(heddle, threadId)).map((turn) => turn.slice(0, 9))).toEqual([
    'go: inter',
    'long long',
    'b: comple',
  ]);
  expect(await waiting(heddle, threadId)).toEqual([]);
  expect((await heddle.finish()).code).toBe(0);
});

test('an interrupted turn holds the queue also over kill -9', async () => {
  const first = hangingReply();
  await using provider = await ProviderServer.start(first.reply, answered);
  const where = place({ 'config.toml': providerToml(provider.port) });
  const killed = await startHeddle(where);
  const { thread } = await killed.request('thread/start', {});
  const threadId = thread.id;
  const { turn } = await killed.request('turn/start', { threadId, input: text('go') });
  await first.asked;
  await killed.request('turn/interrupt', { threadId, turnId: turn.id });
  await killed.turnCompleted(turn.id);
  await queue(killed, 'a', { threadId });
  await killed.kill();

  const heddle = await startHeddle(where);
  await heddle.request('thread/resume', { threadId });
  expect([await waiting(heddle, threadId), await heldBecause(heddle, threadId)]).toEqual([
    ['a'],
    'turnInterrupted',
  ]);
  const { turn: started } = await heddle.request('thread/queue/start', { threadId });
  expect((await heddle.turnCompleted(started.id)).status).toBe('completed');
  expect((await heddle.finish()).code).toBe(0);
});

test(`over ${RUNS} runs with kills at random messages, each entry of a queue has exactly one turn, in order`, {
  tags: 'seeded',
}, async () => {
  await using provider = await ProviderServer.start(answered);
  const play = async (kills: number[]) => {
    const where = place({ 'config.toml': providerToml(provider.port) });
    let heddle = await startHeddle(where);
    const threadId = (await heddle.request('thread/start', {})).thread.id;
    // The thread is not loaded while the entries are added, so none begins before.
    await heddle.request('turn/start', { threadId, input: text('go') });
    await heddle.kill();
    heddle = await startHeddle(where);
    for (const words of ENTRIES) await queue(heddle, words, { threadId });
    for (const messages of kills) {
      const { length: left } = await waiting(heddle, threadId);
      if (left === 0) break;
      const { client, from } = { client: heddle, from: heddle.messages.length };
      void client.request('thread/resume', { threadId }).catch(() => {});
      const isDone = () => client.notifications('turn/completed').length === left;
      await client.count(from + messages, isDone);
      await heddle.kill();
      heddle = await startHeddle(where);
    }
    await heddle.request('thread/resume', { threadId });
    for (let left = ['some']; left.length > 0; ) left = await waiting(heddle, threadId);
    const turns = await turnsOf(heddle, threadId);
    expect(turns.map((turn) => turn.replace(/: .*/, ''))).toEqual(['go', ...ENTRIES]);
    expect((await heddle.finish()).code).toBe(0);
  };
  const moments = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(moments, play), { numRuns: RUNS, endOnFailure: true });
});
