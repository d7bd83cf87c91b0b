import { expect, test } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { answered, halfAnswer, ProviderServer } from '../model/provider-server.ts';
import { brief } from '../support/expected.ts';
import { text } from '../support/test-client.ts';
import { type HeddleProcess, place, providerToml, startHeddle } from './support.ts';

function items(heddle: HeddleProcess, threadId: string): Promise<ThreadItem[]> {
  return heddle
    .request('thread/read', { threadId, includeTurns: true })
    .then(({ thread }) => thread.turns.flatMap((turn) => turn.items));
}

test('a thread belongs to one of two servers: the other lists, reads and forks it, and takes it when the first is killed', async () => {
  await using provider = await ProviderServer.start(answered, halfAnswer, answered);
  const where = place({ 'config.toml': providerToml(provider.port) });
  const first = await startHeddle(where);
  const { thread } = await first.request('thread/start', {});
  const threadId = thread.id;
  const { id: firstTurn } = await first.turn(threadId, 'one');
  await first.request('turn/start', { threadId, input: text('two') });
  await first.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half an answer');

  const second = await startHeddle(where);
  expect(await second.refusal('thread/resume', { threadId })).toEqual({
    code: -32600,
    message: expect.stringMatching(
      new RegExp(`already has an active writer \\(pid ${first.pid}\\)`),
    ),
    data: { code: 'active_writer', pid: first.pid },
  });
  expect((await second.request('thread/list', {})).data.map(({ id }) => id)).toEqual([threadId]);
  expect(brief(await items(second, threadId)).slice(0, 3)).toEqual([
    'user: one',
    'agent: ok',
    'user: two',
  ]);
  const { thread: fork } = await second.request('thread/fork', { threadId, lastTurnId: firstTurn });
  expect(await second.turn(fork.id, 'fork')).toMatchObject({ status: 'completed' });
  expect(await second.refusal('turn/start', { threadId, input: text('no') })).toMatchObject({
    data: { code: 'thread_not_found' },
  });

  await first.kill();
  const { thread: resumed } = await second.request('thread/resume', { threadId });
  expect(resumed.turns.map(({ status }) => status)).toEqual(['completed', 'interrupted']);
  expect(await second.turn(threadId, 'three')).toMatchObject({ status: 'completed' });
  expect(brief(await items(second, threadId)).slice(-2)).toEqual(['user: three', 'agent: ok']);
  expect(brief(await items(second, fork.id))).toEqual([
    'user: one',
    'agent: ok',
    'user: fork',
    'agent: ok',
  ]);
});

test('a server that ends in order leaves its threads to the other', async () => {
  const where = place();
  const first = await startHeddle(where);
  const second = await startHeddle(where);
  const { thread } = await first.request('thread/start', {});
  await first.turn(thread.id, 'say one');
  await second.refusal('thread/resume', { threadId: thread.id });
  await first.finish();
  await second.request('thread/resume', { threadId: thread.id });
  expect(await second.turn(thread.id, 'say two')).toMatchObject({ status: 'completed' });
});

test('two servers write into one home at once, and both have all of it', {
  timeout: 30_000,
}, async () => {
  const where = place();
  const servers = [await startHeddle(where), await startHeddle(where)];
  const ids = await Promise.all(
    servers.map(async (heddle) => {
      const { thread } = await heddle.request('thread/start', {});
      for (let turn = 0; turn < 20; turn++)
        expect(await heddle.turn(thread.id, `say ${turn}`)).toMatchObject({ status: 'completed' });
      return thread.id;
    }),
  );
  const said = Array.from({ length: 20 }, (_, turn) => [
    `user: say ${turn}`,
    `agent: ${turn}`,
  ]).flat();
  for (const heddle of servers) {
    expect(new Set((await heddle.request('thread/list', {})).data.map(({ id }) => id))).toEqual(
      new Set(ids),
    );
    for (const id of ids) expect(brief(await items(heddle, id))).toEqual(said);
  }
});
