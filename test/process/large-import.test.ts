// @module-tag slow

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { response, rolloutId, sessionMeta, text, turn } from '../rollout/rollout-text.ts';
import { asked } from '../support/test-model.ts';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

const THREAD = rolloutId(1);
/**
 * The size of the rollout: HEDDLE_IMPORT_MB, or by default as many megabytes as take some seconds.
 */
const MB = Number(process.env.HEDDLE_IMPORT_MB ?? 12);
const TURN_BYTES = 6_000;
const TURNS = Math.ceil((MB * 1e6) / TURN_BYTES);
/**
 * The longest a bystander's turn may take, while other programs work at the same time: the whole
 * import took many times as long before.
 */
const TURN_MS_MAX = 1_500;

/** A rollout of short turns, and of a line with a long text. */
function largeRollout(where: Place): string {
  const path = join(where.work, 'large.jsonl');
  const turns = Array.from({ length: TURNS }, (_, number) => {
    const answer = `answer ${number} ${'words '.repeat(400)}`;
    return turn(number, rolloutId(100_000 + number), [`question ${number}`, answer]);
  });
  const long = response(1, asked('long '.repeat(400_000)));
  const head = sessionMeta(THREAD, {
    cwd: where.work,
    originator: 'another',
    source: 'cli',
    model_provider: 'scripted',
  });
  writeFileSync(path, text([head, ...turns.flat(), long]));
  return path;
}

async function listed(heddle: HeddleProcess): Promise<string[]> {
  const { data } = await heddle.request('thread/list', {
    sourceKinds: ['cli', 'vscode', 'appServer'],
    searchTerm: 'question',
  });
  return data.map(({ id }) => id);
}

async function lastTurn(heddle: HeddleProcess): Promise<string | undefined> {
  const { data } = await heddle.request('thread/turns/list', {
    threadId: THREAD,
    limit: 1,
    sortDirection: 'desc',
  });
  return data[0]?.id;
}

function stored(where: Place): { threads: number; held: number; entries: number } {
  const db = new Database(join(where.home, 'heddle.db'), { readonly: true });
  try {
    const count = (table: string) =>
      Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    return { threads: count('thread'), held: count('held_log'), entries: count('entry') };
  } finally {
    db.close();
  }
}

test('while a large rollout is imported, turns of other threads go on, and nobody sees the thread before it is whole', {
  timeout: 300_000,
}, async () => {
  const where = place({ 'config.toml': 'model_provider = "scripted"\n' });
  const path = largeRollout(where);
  const [heddle, neighbour] = [await startHeddle(where), await startHeddle(where)];
  const bystander = (await heddle.request('thread/start', {})).thread.id;
  await heddle.turn(bystander, 'say ready');
  let isOver = false;
  const resumed = heddle
    .request('thread/resume', { threadId: THREAD, path, excludeTurns: true })
    .finally(() => {
      isOver = true;
    });
  const turns: number[] = [];
  while (!isOver) {
    const turnMs = performance.now();
    expect((await heddle.turn(bystander, 'say hello')).status).toBe('completed');
    turns.push(performance.now() - turnMs);
    // The list first: if the thread is not there yet afterwards, it was not there before.
    const list = await listed(neighbour);
    const found = await neighbour.ask('thread/read', { threadId: THREAD });
    if (found.error !== undefined)
      expect([found.error.data?.code, list]).toEqual(['thread_not_found', []]);
    else expect(await lastTurn(neighbour)).toBe(rolloutId(100_000 + TURNS - 1));
  }
  expect((await resumed).thread.id).toBe(THREAD);
  if (process.env.HEDDLE_IMPORT_MB !== undefined)
    process.stderr.write(`${turns.length} turns, the longest ${Math.round(Math.max(...turns))} ms
`);
  expect(Math.max(...turns)).toBeLessThan(TURN_MS_MAX);
  expect(await lastTurn(heddle)).toBe(rolloutId(100_000 + TURNS - 1));
  expect((await heddle.turn(THREAD, 'say on')).status).toBe('completed');
});

test('two servers import a rollout at once: there is one thread, and nothing is left of the other attempt', {
  timeout: 300_000,
}, async () => {
  const where = place({ 'config.toml': 'model_provider = "scripted"\n' });
  const path = largeRollout(where);
  const servers = [await startHeddle(where), await startHeddle(where)];
  const forks = await Promise.all(
    servers.map((server) =>
      server.request('thread/fork', { threadId: THREAD, path, excludeTurns: true }),
    ),
  );
  expect(forks.map(({ thread }) => thread.forkedFromId)).toEqual([THREAD, THREAD]);
  for (const server of servers) expect(await lastTurn(server)).toBe(rolloutId(100_000 + TURNS - 1));
  expect(stored(where)).toMatchObject({ threads: 3, held: 0 });
  const once = TURNS * 6 + 1;
  await expect.poll(() => stored(where).entries, { timeout: 60_000 }).toBeLessThan(once + 10);
});

test('a server that is killed in an import leaves nothing of it: the next one removes it, and imports it', {
  timeout: 300_000,
}, async () => {
  const where = place({ 'config.toml': 'model_provider = "scripted"\n' });
  const path = largeRollout(where);
  const heddle = await startHeddle(where);
  await heddle.request('thread/start', {});
  const resumed = heddle
    .request('thread/resume', { threadId: THREAD, path, excludeTurns: true })
    .catch(() => {});
  await expect
    .poll(() => stored(where).entries, { interval: 5, timeout: 60_000 })
    .toBeGreaterThan(500);
  await heddle.kill();
  await resumed;
  expect(stored(where)).toMatchObject({ threads: 1, held: 1 });
  const next = await startHeddle(where);
  await next.request('thread/start', {});
  await expect
    .poll(() => stored(where), { timeout: 60_000 })
    .toEqual({ threads: 2, held: 0, entries: 0 });
  await next.request('thread/resume', { threadId: THREAD, path, excludeTurns: true });
  expect(await lastTurn(next)).toBe(rolloutId(100_000 + TURNS - 1));
});
