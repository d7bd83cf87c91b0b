// @module-tag slow
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { neverCollect } from '../../../src/store/sqlite/connect/load-sqlite.ts';
import { created, message, ProviderServer, type Reply, sse } from '../../model/provider-server.ts';
import { brief } from '../../support/expected.ts';
import { text } from '../../support/test-client.ts';
import { type HeddleProcess, type Place, place, providerToml, startHeddle } from '../support.ts';

/**
 * An answer that needs no lock of the database comes within this time, even on a machine with much
 * else to do.
 */
const ANSWER_MS_MAX = 1_000;
/** The saves of unfinished text and the first attempts to write fall into this time. */
const HELD_MS = 1_500;

/**
 * Takes the write lock of the home's database, as a neighbour that is stopped in mid write has it.
 */
function holdLock({ home }: Place): { release: () => void } {
  const db = neverCollect(new Database(join(home, 'heddle.db')));
  onTestFinished(() => void db.close());
  db.exec('BEGIN IMMEDIATE');
  return { release: () => db.exec('ROLLBACK') };
}

async function msOf(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

/** A provider whose one stream the test writes. */
async function streamOfTest(): Promise<{
  provider: ProviderServer;
  opened: Promise<ServerResponse>;
}> {
  let open: (res: ServerResponse) => void = () => {};
  const opened = new Promise<ServerResponse>((resolve) => {
    open = resolve;
  });
  const reply: Reply = (res, req) => {
    // It lists no models.
    if (req.method === 'GET') return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    open(res);
  };
  const provider = await ProviderServer.start(reply);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return { provider, opened };
}

/** Sends deltas and other requests for a while. Returns the longest time that one of them took. */
async function longestAnswer(
  heddle: HeddleProcess,
  threadId: string,
  stream: ServerResponse,
): Promise<number> {
  const untilMs = performance.now() + HELD_MS;
  let longest = 0;
  for (let number = 1; performance.now() < untilMs; number++) {
    const word = `word ${number} `;
    const delta = heddle.next(
      word,
      ({ method, params }) =>
        method === 'item/agentMessage/delta' && (params as { delta: string }).delta === word,
    );
    stream.write(
      sse({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: word }),
    );
    const read = heddle.request('thread/read', { threadId });
    longest = Math.max(
      longest,
      ...(await Promise.all([delta, heddle.request('model/list', {}), read].map(msOf))),
    );
  }
  return longest;
}

test('while another process holds the lock of the database, the server answers and streams, and what it has to write waits', async () => {
  const { provider, opened } = await streamOfTest();
  const where = place({
    'config.toml': providerToml(provider.port, { stream_idle_timeout_ms: 60_000 }),
  });
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('turn/start', { threadId: thread.id, input: text('go') });
  const stream = await opened;
  const [added, , done] = message('').map(sse);
  stream.write(
    sse(created) +
      added +
      sse({
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        delta: 'word 0 ',
      }),
  );
  await heddle.waitFor('item/started', ({ item }) => item.type === 'agentMessage');

  const { release } = holdLock(where);
  const started = heddle.request('thread/start', {});
  expect(await longestAnswer(heddle, thread.id, stream)).toBeLessThan(ANSWER_MS_MAX);
  release();
  const { thread: second } = await started;
  stream.end(done + sse({ type: 'response.completed', response: { id: 'resp_1', usage: null } }));
  expect(await heddle.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  const stored = await heddle.request('thread/read', { threadId: thread.id, includeTurns: true });
  expect(brief(stored.thread.turns.flatMap(({ items }) => items))[0]).toBe('user: go');
  expect((await heddle.request('thread/loaded/list', {})).data.sort()).toEqual(
    [thread.id, second.id].sort(),
  );
});
