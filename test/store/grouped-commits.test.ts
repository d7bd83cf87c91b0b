import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/database/load-sqlite.ts';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

/** A store whose statements the test sees. */
function listening(home: TempHome): { store: ThreadStore; statements: string[] } {
  const statements: string[] = [];
  const verbose = (sql: unknown) => void statements.push(String(sql));
  const store = home.open((file, options) =>
    neverCollect(new Database(file, { ...options, ...(file.endsWith('heddle.db') && { verbose }) })),
  );
  return { store, statements };
}

function writers(store: ThreadStore, numbers: number[]): Promise<ThreadWriter[]> {
  return Promise.all(numbers.map((number) => store.createThread(threadRecord(number))));
}

const transactions = (statements: string[]) => statements.filter((sql) => /^(BEGIN|COMMIT|PRAGMA synchronous)/.test(sql));

test('the appends of one moment are one transaction, which is durable if one of them is', async () => {
  const home = tempHome();
  const { store, statements } = listening(home);
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  statements.length = 0;
  await Promise.all([
    a.append(turnEntries('t1')),
    b.append(turnEntries('t1'), { durable: true }),
    c.savePartial(storedItem('t1', agentMessage('a'))),
  ]);
  expect(transactions(statements)).toEqual(['PRAGMA synchronous = FULL', 'BEGIN IMMEDIATE', 'COMMIT', 'PRAGMA synchronous = NORMAL']);
  for (const number of [1, 2]) expect(await turnsInShort(home.open(), idOf(number))).toEqual([wholeTurn('t1')]);
});

test('an append that fails leaves the others of its transaction, and the same writer goes on', async () => {
  const home = tempHome();
  const { store, statements } = listening(home);
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  home.sql((db) => db.exec(`DELETE FROM lease WHERE thread_id = '${idOf(2)}'`));
  statements.length = 0;
  const outcomes = await Promise.allSettled([a, b, c].map((writer) => writer.append(turnEntries('t1'))));
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'))).toEqual([
    'done',
    'active_writer',
    'done',
  ]);
  expect(transactions(statements)).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  await Promise.all([a.append(turnEntries('t2')), c.append(turnEntries('t2'))]);
  for (const number of [1, 3]) expect(await turnsInShort(home.open(), idOf(number))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
  expect(await turnsInShort(home.open(), idOf(2))).toEqual([]);
});

test('if the disk is too full for one of them, the others are written', async () => {
  const home = tempHome();
  let open: Database.Database | null = null;
  const store = home.open((file, options) => {
    const db = neverCollect(new Database(file, options));
    if (file.endsWith('heddle.db')) open = db;
    return db;
  });
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  const db = open as unknown as Database.Database;
  db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 6}`);
  const big = [turnStarted('t1'), itemEntry('t1', agentMessage('a', 'x'.repeat(50_000))), turnEnded('t1')];
  const outcomes = await Promise.allSettled([a.append(turnEntries('t1')), b.append(big), c.append(turnEntries('t1'))]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'))).toEqual(['done', 'store_full', 'done']);
  for (const number of [1, 3]) expect(await turnsInShort(home.open(), idOf(number))).toEqual([wholeTurn('t1')]);
  db.pragma('max_page_count = 1000000');
  await b.append(big);
});

test('two appends of one writer in one moment keep their order', async () => {
  const home = tempHome();
  const writer = await home.open().createThread(threadRecord(1));
  await Promise.all([writer.append(turnEntries('t1')), writer.append(turnEntries('t2')), writer.append(turnEntries('t3'))]);
  expect(await turnsInShort(home.open(), idOf(1))).toEqual(['t1', 't2', 't3'].map(wholeTurn));
});
