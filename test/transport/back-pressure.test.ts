// @module-tag slow
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { brief } from '../support/expected.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { messageBegun, said, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { threadWith } from '../support/thread-with.ts';

const MEBIBYTE = 1024 * 1024;

/** Resolves when nothing has changed for many rounds of the event loop. */
async function still(value: () => unknown): Promise<void> {
  let before = value();
  for (let rounds = 0; rounds < 200; rounds++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (value() === before) continue;
    before = value();
    rounds = 0;
  }
}

/**
 * The number of bytes that the server has sent and the client has not read. Bytes that are being
 * passed on count twice.
 */
function unread({ output }: TestClient): number {
  return output.writableLength + output.readableLength;
}

/** A response of this many mebibytes in as many deltas. Counts the deltas that were taken. */
class TalkingModel extends TestModel {
  taken = 0;
  readonly #mebibytes: number;

  constructor(mebibytes: number) {
    super();
    this.#mebibytes = mebibytes;
  }

  override async *stream(): AsyncGenerator<ModelEvent> {
    yield* messageBegun('.');
    for (let count = 0; count < this.#mebibytes; count++) {
      yield { type: 'textDelta', itemId: 'msg_1', delta: 'x'.repeat(MEBIBYTE) };
      this.taken++;
    }
    yield { type: 'itemCompleted', item: { ...said('that was it'), id: 'msg_1' } };
    yield { type: 'completed', usage: null };
  }
}

test('a model waits for a client that does not read; all its output comes when the client reads again', async () => {
  const model = new TalkingModel(24);
  const { client } = await startServer({ model });
  await client.request('thread/start', {});
  client.output.pause();
  client.send(
    JSON.stringify({
      id: 't',
      method: 'turn/start',
      params: { threadId: idOf(1), input: text('hi') },
    }),
  );
  await still(() => model.taken);
  expect(model.taken).toBeGreaterThan(0);
  expect(model.taken).toBeLessThan(8);
  expect(unread(client)).toBeLessThan(10 * MEBIBYTE);
  client.output.resume();
  expect(await client.waitFor('turn/completed')).toMatchObject({ turn: { status: 'completed' } });
  const streamed = client
    .notifications('item/agentMessage/delta')
    .reduce((length, { delta }) => length + delta.length, 0);
  expect(streamed).toBe(24 * MEBIBYTE + 1);
});

test('a turn that waits for a client can be interrupted by another', async () => {
  const model = new TalkingModel(24);
  const server = await startServer({ model });
  const other = await server.connect();
  await server.client.request('thread/start', {});
  server.client.output.pause();
  server.client.send(
    JSON.stringify({
      id: 't',
      method: 'turn/start',
      params: { threadId: idOf(1), input: text('hi') },
    }),
  );
  await still(() => model.taken);
  const { thread } = await other.request('thread/read', { threadId: idOf(1), includeTurns: true });
  const turnId = thread.turns[0]?.id ?? '';
  await other.request('turn/interrupt', { threadId: idOf(1), turnId });
  await still(() => model.taken);
  const read = await other.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(read.thread.turns[0]?.status).toBe('interrupted');
  server.client.output.resume();
  expect((await server.client.turnCompleted(turnId)).status).toBe('interrupted');
});

test('a turn that waits for a client goes on when the client is gone', async () => {
  const model = new TalkingModel(24);
  const server = await startServer({ model });
  const gone = await server.connect();
  await gone.request('thread/start', {});
  gone.output.pause();
  gone.send(
    JSON.stringify({
      id: 't',
      method: 'turn/start',
      params: { threadId: idOf(1), input: text('hi') },
    }),
  );
  await still(() => model.taken);
  gone.output.destroy(new Error('broken pipe'));
  await gone.ended;
  await still(() => model.taken);
  expect(model.taken).toBe(24);
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([
    ['user: hi', 'agent: that was it'],
  ]);
});

test('large responses wait until the client reads, and then all come', async () => {
  const server = await startServer();
  await threadWith(server, [['x'.repeat(MEBIBYTE), 'ok']]);
  server.client.output.pause();
  const ids = Array.from({ length: 30 }, (_, index) => `r${index}`);
  const params = { threadId: idOf(1), includeTurns: true };
  server.client.input.write(
    ids.map((id) => `${JSON.stringify({ id, method: 'thread/read', params })}\n`).join(''),
  );
  await still(() => unread(server.client));
  expect(unread(server.client)).toBeLessThan(10 * MEBIBYTE);
  server.client.output.resume();
  const last = await server.client.first('the last answer', ({ id }) => id === 'r29');
  expect(last.result).toMatchObject({ thread: { id: idOf(1) } });
  expect(
    server.client.messages.flatMap(({ id }) => (ids.includes(String(id)) ? [id] : [])),
  ).toEqual(ids);
});

test('5,000 requests in one write are each answered, in their order', async () => {
  const { client } = await startServer();
  const ids = Array.from({ length: 5000 }, (_, index) => `r${index}`);
  client.input.write(
    ids
      .map((id) => `${JSON.stringify({ id, method: 'thread/loaded/list', params: {} })}\n`)
      .join(''),
  );
  await client.first('the last answer', ({ id }) => id === 'r4999');
  expect(client.messages.slice(1)).toEqual(
    ids.map((id) => ({ id, result: { data: [], nextCursor: null } })),
  );
});

test('20,000 requests of a client that does not read are each answered or refused as too many', async () => {
  const { client } = await startServer();
  client.output.pause();
  const ids = Array.from({ length: 20_000 }, (_, index) => index + 100_000);
  client.input.write(
    ids.map((id) => `{"id":${id},"method":"thread/loaded/list","params":{}}\n`).join(''),
  );
  await still(() => unread(client));
  expect(unread(client)).toBeLessThan(10 * MEBIBYTE);
  client.output.resume();
  await client.count(20_001, () => false);
  const answers = client.messages.slice(1);
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set(ids));
  expect(answers).toHaveLength(20_000);
  const refusals = answers.filter(({ error }) => error !== undefined);
  expect(
    refusals.every(
      ({ error }) => error?.code === -32001 && error.message === 'Server overloaded; retry later.',
    ),
  ).toBe(true);
  expect(answers.length - refusals.length).toBeGreaterThanOrEqual(8192);
});

test('reading stops for a client that sends and never reads; all its requests are answered when it reads', async () => {
  const { client } = await startServer();
  client.output.pause();
  const count = 80_000;
  const lines = Array.from(
    { length: count },
    (_, index) => `{"id":${index + 100_000},"method":"thread/loaded/list","params":{}}\n`,
  );
  for (let at = 0; at < count; at += 1000) client.input.write(lines.slice(at, at + 1000).join(''));
  await still(() => unread(client));
  expect(unread(client)).toBeLessThan(12 * MEBIBYTE);
  expect(client.input.writableLength + client.input.readableLength).toBeGreaterThan(0);
  client.output.resume();
  await client.count(count + 1, () => false);
  expect(new Set(client.messages.slice(1).map(({ id }) => id)).size).toBe(count);
});
