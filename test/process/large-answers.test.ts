// @module-tag slow
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { completed, created, ProviderServer, type Reply, sse } from '../model/provider-server.ts';
import { place, providerToml, startHeddle } from './support.ts';

const MB = 1e6;
const THREADS = 8;
/**
 * The length of an answer: HEDDLE_ANSWER_MB, or by default as many megabytes as take some seconds.
 */
const ANSWER_CHARS = Number(process.env.HEDDLE_ANSWER_MB ?? 5) * MB;
const DELTA = 'abcdefg '.repeat(8 * 1024);
/**
 * Without any answer, and for each character of the answers: its text, the garbage that V8 leaves,
 * and, of one answer at a time, the whole item and what the store and the client have on their way.
 * 30 MB for each thread make 800 MB.
 */
const BASE_MB = 320;
const BYTES_PER_CHAR = 2;

/**
 * Streams a long answer for the prompt `long`, and a short one for others. All lines with whole
 * long items come at the same time.
 */
function answering(): Reply {
  let arrived = 0;
  let letGo = () => {};
  const haveArrived = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return (res, _req, body) =>
    sendLongAnswer(res, body, () => {
      arrived++;
      if (arrived === THREADS) letGo();
      return haveArrived;
    });
}

/** Awaits `arrive` when all deltas of a long answer have been sent. */
async function sendLongAnswer(
  res: ServerResponse,
  body: unknown,
  arrive: () => Promise<void>,
): Promise<void> {
  // The instructions have the word, too.
  const isLong = JSON.stringify(body).includes('"text":"long"');
  const deltas = isLong ? Math.ceil(ANSWER_CHARS / DELTA.length) : 0;
  const item = { type: 'message', role: 'assistant', id: 'msg_1', content: [] };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = async (event: object) => {
    if (!res.write(sse(event))) await once(res, 'drain');
  };
  await write(created);
  await write({ type: 'response.output_item.added', item });
  for (let sent = 0; sent < deltas; sent++)
    await write({ type: 'response.output_text.delta', delta: DELTA, item_id: 'msg_1' });
  if (isLong) await arrive();
  const text = isLong ? DELTA.repeat(deltas) : 'short';
  await write({
    type: 'response.output_item.done',
    item: { ...item, content: [{ type: 'output_text', text }] },
  });
  res.end(sse(completed));
}

test('long answers in many threads need a few times their length of memory, and turns of another thread complete', {
  timeout: 300_000,
}, async () => {
  await using provider = await ProviderServer.start(answering());
  const heddle = await startHeddle(
    place({ 'config.toml': providerToml(provider.port, { stream_idle_timeout_ms: 60_000 }) }),
  );
  const start = async () => (await heddle.request('thread/start', {})).thread.id;
  const bystander = await start();
  const threads = await Promise.all(Array.from({ length: THREADS }, start));
  let areOver = false;
  const turns = Promise.all(threads.map((threadId) => heddle.turn(threadId, 'long'))).finally(
    () => {
      areOver = true;
    },
  );
  while (!areOver) expect((await heddle.turn(bystander, 'hello')).status).toBe('completed');
  expect((await turns).map(({ status }) => status)).toEqual(threads.map(() => 'completed'));
  const mbMax = BASE_MB + (BYTES_PER_CHAR * THREADS * ANSWER_CHARS) / MB;
  const { peak } = heddle.memory();
  if (process.env.HEDDLE_ANSWER_MB !== undefined)
    process.stderr.write(`peak ${Math.round(peak)} MB\n`);
  expect(peak).toBeLessThan(mbMax);
});
