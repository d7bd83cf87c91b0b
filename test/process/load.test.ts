// @module-tag slow
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { created, message, ProviderServer, type Reply, sse } from '../model/provider-server.ts';
import { drained } from '../support/settled.ts';
import { CLIENT_INFO, type Message, text } from '../support/test-client.ts';
import { type HeddleProcess, place, providerToml, startHeddle } from './support.ts';

const MB = 1e6;
const GROWTH_MB_MAX = 100;
/** A line is in memory as bytes, as text and as a value until the next collection. */
const LARGE_LINES_GROWTH_MB_MAX = 150;
const OVERLOADED = -32001;

/** The handshake and so many requests of several kinds, as lines. */
function requests(count: number): string {
  const kinds = [
    { method: 'thread/loaded/list', params: {} },
    { method: 'thread/list', params: { limit: 5 } },
    { method: 'config/read', params: {} },
    { method: 'no/such/method', params: {} },
    { method: 'thread/read', params: { threadId: '00000000-0000-7000-8000-000000000000' } },
  ];
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ id: index + 1, ...kinds[index % kinds.length] }),
  );
  const initialize = JSON.stringify({
    id: 0,
    method: 'initialize',
    params: { clientInfo: CLIENT_INFO },
  });
  return `${[initialize, ...lines].join('\n')}\n`;
}

async function answers(heddle: HeddleProcess, count: number): Promise<Message[]> {
  const isAnswer = ({ id, method }: Message) => id !== undefined && method === undefined;
  const enough = () => heddle.messages.filter(isAnswer).length >= count;
  let left = count;
  await heddle.first(`${count} answers`, (sent) => isAnswer(sent) && --left === 0);
  expect(enough()).toBe(true);
  return heddle.messages.filter(isAnswer);
}

/** Every id once, and only these ids. */
function expectEachOnce(all: Message[], count: number): void {
  expect(all.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: count + 1 }, (_, index) => index),
  );
}

async function expectServes(heddle: HeddleProcess): Promise<void> {
  expect((await heddle.request('thread/loaded/list', {})).data).toBeInstanceOf(Array);
}

test('1,000 requests in one write are all answered', async () => {
  const heddle = await startHeddle(place(), { handshake: false });
  heddle.input.write(requests(1_000));
  const all = await answers(heddle, 1_001);
  expectEachOnce(all, 1_000);
  expect(all.filter(({ error }) => error?.code === OVERLOADED)).toEqual([]);
});

test.each([
  ['at once', true],
  ['after a while', false],
])(
  '5,000 requests in one write are each answered or refused as too many; the client reads %s',
  async (_when, reading) => {
    const heddle = await startHeddle(place(), { handshake: false, reading });
    heddle.input.write(requests(5_000));
    if (!reading) {
      await heddle.atRest();
      heddle.read();
    }
    expectEachOnce(await answers(heddle, 5_001), 5_000);
    await expectServes(heddle);
  },
);

test('a client that writes on and on and reads nothing has to wait; then each request has its answer', {
  timeout: 60_000,
}, async () => {
  const heddle = await startHeddle(place(), { handshake: false, reading: false });
  heddle.input.write(requests(0));
  await heddle.atRest();
  const before = heddle.memory().now;
  heddle.input.write(requests(100_000).replace(/^.*\n/, ''));
  await heddle.atRest();
  expect(heddle.stdin.writableLength).toBeGreaterThan(0);
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
  heddle.read();
  expectEachOnce(await answers(heddle, 100_001), 100_000);
});

test('answers that a client does not read are not made, also when it reads a few and stops again', {
  timeout: 60_000,
}, async () => {
  const heddle = await startHeddle(place());
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'x'.repeat(MB));
  heddle.stdout.unpipe(heddle.output);
  const before = heddle.memory().now;
  const request = (id: string) =>
    `${JSON.stringify({ id, method: 'thread/read', params: { threadId: thread.id, includeTurns: true } })}\n`;
  const ids = Array.from({ length: 200 }, (_, index) => `read ${index}`);
  heddle.input.write(ids.map(request).join(''));
  await heddle.atRest();
  heddle.stdout.pipe(heddle.output);
  await heddle.first('a few answers', ({ id }) => id === ids[9]);
  heddle.stdout.unpipe(heddle.output);
  await heddle.atRest();
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
  heddle.stdout.pipe(heddle.output);
  await heddle.first('the last answer', ({ id }) => id === ids.at(-1));
  expect(
    heddle.messages.flatMap(({ id, result }) =>
      ids.includes(String(id)) && result !== undefined ? [id] : [],
    ),
  ).toEqual(ids);
});

/** Resolves when all of the server is loaded, and the thread of its store has started. */
async function loaded(heddle: HeddleProcess): Promise<void> {
  await heddle.request('thread/list', {});
}

test('200 MB without a line end cost no memory, and only that line', {
  timeout: 60_000,
}, async () => {
  const heddle = await startHeddle(place());
  await loaded(heddle);
  const before = heddle.memory().now;
  const chunk = Buffer.alloc(MB, '[');
  for (let sent = 0; sent < 200; sent++)
    if (!heddle.stdin.write(chunk)) await once(heddle.stdin, 'drain');
  heddle.stdin.write('\n');
  await expectServes(heddle);
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
});

test('200 MB in lines of 5 MB do not stay in memory', { timeout: 60_000 }, async () => {
  const heddle = await startHeddle(place());
  await loaded(heddle);
  const before = heddle.memory().now;
  const line = `${JSON.stringify({ id: 'long', method: 'thread/read', params: { threadId: 'x'.repeat(5 * MB) } })}\n`;
  for (let sent = 0; sent < 40; sent++)
    if (!heddle.stdin.write(line)) await once(heddle.stdin, 'drain');
  await expectServes(heddle);
  expect(heddle.messages.filter(({ id }) => id === 'long')).toHaveLength(40);
  expect(heddle.memory().peak - before).toBeLessThan(LARGE_LINES_GROWTH_MB_MAX);
});

const badLines = 'this is no message\n'.repeat(50_000);

test('a log that nobody reads holds up nothing', async () => {
  const heddle = await startHeddle(place());
  heddle.log.pause();
  await loaded(heddle);
  const before = heddle.memory().now;
  heddle.input.write(badLines);
  await expectServes(heddle);
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
});

test('a log that nobody can read ends nothing', async () => {
  const heddle = await startHeddle(place());
  heddle.log.destroy();
  heddle.input.write(badLines);
  await expectServes(heddle);
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
});

test('a client that stops reading in a long stream stops the stream, and its turn ends once', {
  timeout: 90_000,
}, async () => {
  await using provider = await ProviderServer.start(flooding(300 * MB), answering);
  const heddle = await startHeddle(
    place({ 'config.toml': providerToml(provider.port, { stream_idle_timeout_ms: 600_000 }) }),
  );
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('turn/start', {
    threadId: thread.id,
    input: text('flood'),
  });
  await heddle.waitFor('item/agentMessage/delta');
  heddle.stdout.unpipe(heddle.output);
  const before = heddle.memory().now;
  await heddle.atRest();
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
  heddle.stdout.pipe(heddle.output);
  expect(await heddle.turnCompleted(turn.id)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('characters') },
  });
  expect(await heddle.turn(thread.id, 'next')).toMatchObject({ status: 'completed' });
  expect(heddle.notifications('turn/completed', (sent) => sent.turn.id === turn.id)).toHaveLength(
    1,
  );
});

/** Says so many bytes of a message, as fast as they are read. */
function flooding(bytes: number): Reply {
  return async (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [created, message('')[0] as object]) res.write(sse(event));
    const delta = sse({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      delta: 'x'.repeat(4_096),
    });
    for (let sent = 0; sent < bytes && !res.destroyed; sent += delta.length) {
      if (!res.write(delta)) await drained(res);
    }
    res.end();
  };
}

const answering: Reply = (res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(
    [
      created,
      ...message('ok'),
      { type: 'response.completed', response: { id: 'resp_1', usage: null } },
    ]
      .map(sse)
      .join(''),
  );
};
