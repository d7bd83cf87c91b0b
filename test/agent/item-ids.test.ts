import { expect, test } from 'vitest';
import { message, response } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, done, runs, THREAD } from '../tools/command-server.ts';

/** The ids and commands of the items with commands, as they are read. */
async function commands({ client }: TestServer): Promise<[string, string][]> {
  const { thread } = await client.request('thread/read', { threadId: THREAD, includeTurns: true });
  const items = thread.turns.flatMap((turn) => turn.items);
  return items.flatMap((item) =>
    item.type === 'commandExecution' ? [[item.id, item.command] as [string, string]] : [],
  );
}

async function compact({ client }: TestServer): Promise<void> {
  await client.request('thread/compact/start', { threadId: THREAD });
  await client.waitFor('item/completed', ({ item }) => item.type === 'contextCompaction');
}

test('a call whose id the provider used before a compaction and a restart gets an item of its own', async () => {
  const first = await commandServer([runs('echo one'), done, response(message('A summary.'))]);
  await first.client.turn(THREAD, 'go');
  await compact(first);
  const server = await first.restart();
  await server.client.request('thread/resume', { threadId: THREAD });
  server.model.push(runs('echo two'), runs('echo three'), done);
  await server.client.turn(THREAD, 'again');
  const read = await commands(server);
  expect(read.map(([, command]) => command)).toEqual(
    [1, 2, 3].map((index) => expect.stringContaining(['one', 'two', 'three'][index - 1] ?? '')),
  );
  expect(new Set(read.map(([id]) => id)).size).toBe(3);
  expect(read[0]?.[0]).toBe('call_1');
});

test('a call whose id was not used before gives its item the id, also after a restart without a compaction', async () => {
  const first = await commandServer([runs('echo one'), done]);
  await first.client.turn(THREAD, 'go');
  const server = await first.restart();
  await server.client.request('thread/resume', { threadId: THREAD });
  server.model.push(runs('echo two', {}, 'call_2'), runs('echo three', {}, 'call_1'), done);
  await server.client.turn(THREAD, 'again');
  const ids = (await commands(server)).map(([id]) => id);
  expect(ids.slice(0, 2)).toEqual(['call_1', 'call_2']);
  expect(new Set(ids).size).toBe(3);
});

test('a call whose id the provider used before a compaction in the same process gets an item of its own', async () => {
  const server = await commandServer([
    runs('echo one'),
    done,
    response(message('A summary.')),
    runs('echo two'),
    done,
  ]);
  await server.client.turn(THREAD, 'go');
  await compact(server);
  await server.client.turn(THREAD, 'again');
  expect(new Set((await commands(server)).map(([id]) => id)).size).toBe(2);
});
