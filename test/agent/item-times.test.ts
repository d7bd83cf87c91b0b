import { expect, test } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { START_MS } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import { message, messageBegun, reasoning, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { withThread } from '../support/thread-with.ts';
import { commandServer, done, runs, THREAD } from '../tools/command-server.ts';

type Times = [type: ThreadItem['type'], startedAtMs: number | null, completedAtMs: number | null];

const timesOf = (items: readonly ThreadItem[]): Times[] =>
  items.map(({ type, ...item }) => [type, item.startedAtMs, item.completedAtMs]);

/** The times of a thread's items in every history, which must all be the same. */
async function readTimes(
  { client }: Pick<TestServer, 'client'>,
  threadId = idOf(1),
): Promise<Times[]> {
  const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
  const turns = await client.request('thread/turns/list', {
    threadId,
    itemsView: 'full',
    sortDirection: 'asc',
  });
  const listed = await client.request('thread/items/list', { threadId });
  for (const { item, startedAtMs, completedAtMs } of listed.data)
    expect(item).toMatchObject({ startedAtMs, completedAtMs });
  const read = timesOf(thread.turns.flatMap(({ items }) => items));
  expect(timesOf(turns.data.flatMap(({ items }) => items))).toEqual(read);
  expect(timesOf(listed.data.map(({ item }) => item))).toEqual(read);
  return read;
}

/** A turn in which the clock advances by a second before each of the model's items ends. */
async function timedTurn() {
  const gates = [new Gate(), new Gate()] as const;
  const [begun, ended] = [reasoning('because'), message('done')];
  const model = new TestModel(
    response(
      begun.slice(0, -1),
      [gates[0]],
      begun.slice(-1),
      ended.slice(0, -1),
      [gates[1]],
      ended.slice(-1),
    ),
  );
  const server = await withThread({ model });
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  for (const gate of gates) {
    await gate.reached;
    server.clock.advance(1_000);
    gate.open();
  }
  return { server, turn: await server.client.turnCompleted(turn.id) };
}

const AFTER: Times[] = [
  ['userMessage', START_MS, START_MS],
  ['reasoning', START_MS, START_MS + 1_000],
  ['agentMessage', START_MS + 1_000, START_MS + 2_000],
];

test('items carry their times in notifications, in the turn that ends, and in every history', async () => {
  const { server, turn } = await timedTurn();
  const { client } = server;
  const started = client.notifications('item/started');
  expect(timesOf(started.map(({ item }) => item))).toEqual(
    AFTER.map(([type, startedAtMs]) => [type, startedAtMs, null]),
  );
  expect(started.map(({ startedAtMs }) => startedAtMs)).toEqual(
    AFTER.map(([, startedAtMs]) => startedAtMs),
  );
  const completed = client.notifications('item/completed');
  expect(timesOf(completed.map(({ item }) => item))).toEqual(AFTER);
  expect(completed.map(({ completedAtMs }) => completedAtMs)).toEqual(
    AFTER.map(([, , completedAtMs]) => completedAtMs),
  );
  expect(timesOf(turn.items)).toEqual(AFTER.slice(-1));
  expect(await readTimes(server)).toEqual(AFTER);
});

test('a fork, a resume after a restart, and named items have the same times, whatever the time is then', async () => {
  const { server, turn } = await timedTurn();
  server.clock.advance(60_000);
  const next = await server.restart();
  const resumed = await next.client.request('thread/resume', { threadId: idOf(1) });
  expect(timesOf(resumed.thread.turns.flatMap(({ items }) => items))).toEqual(AFTER);
  const { thread } = await next.client.request('thread/fork', { threadId: idOf(1) });
  expect(timesOf(thread.turns.flatMap(({ items }) => items))).toEqual(AFTER);
  expect(await readTimes(next, thread.id)).toEqual(AFTER);
  const itemIds = thread.turns.flatMap(({ items }) => items.map(({ id }) => id));
  const named = await next.client.request('thread/items/read', {
    threadId: thread.id,
    turnId: turn.id,
    itemIds,
  });
  expect(timesOf(named.data.map(({ item }) => item))).toEqual(AFTER);
});

test('an item that has not completed has no end, in a history too; one that was cut off has ended', async () => {
  const server = await withThread({
    model: new TestModel(response(messageBegun('par'), [new Gate()])),
  });
  await server.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await server.client.waitFor('item/agentMessage/delta');
  server.clock.advance(1_000);
  expect(await readTimes(server)).toEqual([AFTER[0], ['agentMessage', START_MS, null]]);
  const next = await server.restart();
  const cutOff = await readTimes(next);
  expect(cutOff).toEqual([AFTER[0], ['agentMessage', START_MS, expect.any(Number)]]);
  const again = await next.restart();
  expect(await readTimes(again)).toEqual(cutOff);
});

test('a command that runs on after its turn has no end until it ends', async () => {
  const server = await commandServer([runs('echo up; exec sleep 600'), done]);
  const turn = server.client.turn(THREAD, 'go');
  await server.client.waitFor('item/commandExecution/outputDelta');
  server.clock.advance(10_000);
  await turn;
  const running = (await readTimes(server)).find(([type]) => type === 'commandExecution');
  expect(running).toEqual(['commandExecution', expect.any(Number), null]);
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
  const { item, completedAtMs } = await server.client.waitFor(
    'item/completed',
    ({ item: one }) => one.type === 'commandExecution',
  );
  expect(item).toMatchObject({ startedAtMs: running?.[1], completedAtMs });
  expect((await readTimes(server)).find(([type]) => type === 'commandExecution')).toEqual([
    'commandExecution',
    running?.[1],
    completedAtMs,
  ]);
});

test('the items of a history that a client passes have no times', async () => {
  const { client } = await startServer();
  const history = [
    {
      type: 'message' as const,
      role: 'user',
      content: [{ type: 'input_text' as const, text: 'old' }],
    },
  ];
  const { thread } = await client.request('thread/resume', { threadId: idOf(999), history });
  expect(await readTimes({ client }, thread.id)).toEqual([['userMessage', null, null]]);
});
