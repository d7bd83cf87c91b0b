import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Connect, neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  threadWithTurns,
  turnEnded,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

const MB = 1024 * 1024;
const LONG_MS = 5_000;
/**
 * The pages of 1 KB by which one call of a timer may shorten the database: a few milliseconds of
 * work.
 */
const PAGES_PER_STEP_MAX = 1_030;

/**
 * A thread of many MB, with the text of another thread between its own. Returns the database's
 * connection.
 */
async function homeWithLargeThread(
  home: TempHome,
  megabytes: number,
): Promise<{ db: Database.Database; large: ReturnType<TempHome['open']> }> {
  const connections: Database.Database[] = [];
  const connect: Connect = (file, options) => {
    const db = neverCollect(new Database(file, options));
    if (file === home.file) connections.push(db);
    return db;
  };
  const store = home.open(connect);
  const writers = [
    await threadWithTurns(store, 1, ['t1']),
    await threadWithTurns(store, 2, ['t1']),
  ];
  for (let number = 0; number < megabytes; number++) {
    for (const [index, writer] of writers.entries()) {
      const text = `${index} ${number} `.padEnd(index === 0 ? MB : 20_000, 'x');
      await writer.append([
        turnStarted(`n${number}`),
        itemEntry(`n${number}`, agentMessage(`a${number}`, text)),
        turnEnded(`n${number}`),
      ]);
    }
  }
  const [db] = connections;
  if (db === undefined) throw new Error('the database is not open');
  return { db, large: store };
}

test('the file shrinks in small steps after a large thread is deleted', async () => {
  const home = tempHome();
  const { db, large: store } = await homeWithLargeThread(home, 20);
  home.clock.advance(LONG_MS);
  expect(statSync(home.file).size).toBeGreaterThan(20 * MB);
  await store.deleteThread(idOf(1));
  const pages = () => Number(db.pragma('page_count', { simple: true }));
  let largest = 0;
  let steps = 0;
  for (let [next] = home.clock.timers; next !== undefined; [next] = home.clock.timers) {
    const before = pages();
    home.clock.advance(next);
    largest = Math.max(largest, before - pages());
    steps++;
  }
  expect([largest > 0, largest <= PAGES_PER_STEP_MAX, steps < 200]).toEqual([true, true, true]);
  expect(statSync(home.file).size).toBeLessThan(4 * MB);
  expect((await turnsInShort(store, idOf(2))).slice(0, 2)).toEqual([
    wholeTurn('t1'),
    'n0 completed: a0',
  ]);
  await store.close();
  expect(home.sql((closed) => closed.pragma('integrity_check', { simple: true }))).toBe('ok');
});
