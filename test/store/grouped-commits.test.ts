import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { commitTogether } from '../../src/store/sqlite/commit-together.ts';
import { type Connect, neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import type { JoinedWrite } from '../../src/store/sqlite/store-queue.ts';
import type { SyncFile } from '../../src/store/sqlite/wal/wal-sync.ts';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import { Gate } from '../support/gate.ts';
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
function listening(
  home: TempHome,
  syncFile?: SyncFile,
): { store: ThreadStore; statements: string[] } {
  const statements: string[] = [];
  const verbose = (sql: unknown) => void statements.push(String(sql));
  const connect: Connect = (file, options) =>
    neverCollect(
      new Database(file, { ...options, ...(file.endsWith('heddle.db') && { verbose }) }),
    );
  const store = home.open(connect, syncFile === undefined ? {} : { walSync: { sync: syncFile } });
  return { store, statements };
}

function writers(store: ThreadStore, numbers: number[]): Promise<ThreadWriter[]> {
  return Promise.all(numbers.map((number) => store.createThread(threadRecord(number))));
}

const transactions = (statements: string[]) =>
  statements.filter((sql) => /^(BEGIN|COMMIT|PRAGMA synchronous)/.test(sql));

test('the appends of one moment are one transaction, and one flush if some are durable', async () => {
  const home = tempHome();
  const flushes: number[] = [];
  const { store, statements } = listening(
    home,
    async (descriptor) => void flushes.push(descriptor),
  );
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  statements.length = 0;
  await Promise.all([
    a.append(turnEntries('t1'), { durable: true }),
    b.append(turnEntries('t1'), { durable: true }),
    c.append([], { partials: [storedItem('t1', agentMessage('a'))] }),
  ]);
  expect(transactions(statements)).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  expect(flushes).toHaveLength(1);
  for (const number of [1, 2])
    expect(await turnsInShort(home.open(), idOf(number))).toEqual([wholeTurn('t1')]);
});

test('while the disk is slow, other calls go on, and all appends that come meanwhile share the next flush', async () => {
  const home = tempHome();
  const flushes: (() => void)[] = [];
  const { store } = listening(home, () => new Promise((resolve) => flushes.push(resolve)));
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  const done: string[] = [];
  const first = a.append(turnEntries('t1'), { durable: true }).then(() => done.push('a'));
  await b.append(turnEntries('t1'));
  const others = [b, c].map((writer) =>
    writer.append(turnEntries('t2'), { durable: true }).then(() => done.push('b or c')),
  );
  expect(await turnsInShort(store, idOf(3))).toEqual([wholeTurn('t2')]);
  expect({ done, flushes: flushes.length }).toEqual({ done: [], flushes: 1 });
  flushes[0]?.();
  await first;
  expect(done).toEqual(['a']);
  await store.getThread(idOf(1));
  expect(flushes).toHaveLength(2);
  flushes[1]?.();
  await Promise.all(others);
});

test('an append that the disk does not take is not stored, and can be repeated', async () => {
  const home = tempHome();
  const broken = Object.assign(new Error('EIO: i/o error, fdatasync'), {
    code: 'EIO',
    syscall: 'fdatasync',
  });
  const failures = [broken];
  const { store } = listening(home, async () => {
    const failure = failures.pop();
    if (failure !== undefined) throw failure;
  });
  const [a, b] = (await writers(store, [1, 2])) as [ThreadWriter, ThreadWriter];
  await a.append(turnEntries('t1'));
  const refused = {
    code: 'store_failed',
    message: expect.stringMatching(/heddle\.db cannot be used: the disk, .* \(EIO: /),
  };
  await expect(a.append(turnEntries('t2'), { durable: true })).rejects.toMatchObject(refused);
  await b.append(turnEntries('t1'), { durable: true });
  expect(await turnsInShort(home.open(), idOf(1))).toEqual([wholeTurn('t1')]);
  await a.append(turnEntries('t2'), { durable: true });
  expect(await turnsInShort(home.open(), idOf(1))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
});

test('an append that fails leaves the others of its transaction, and the same writer goes on', async () => {
  const home = tempHome();
  const { store, statements } = listening(home);
  const [a, b, c] = (await writers(store, [1, 2, 3])) as [ThreadWriter, ThreadWriter, ThreadWriter];
  home.sql((db) => db.exec(`DELETE FROM lease WHERE thread_id = '${idOf(2)}'`));
  statements.length = 0;
  const outcomes = await Promise.allSettled(
    [a, b, c].map((writer) => writer.append(turnEntries('t1'))),
  );
  expect(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done')),
  ).toEqual(['done', 'active_writer', 'done']);
  expect(transactions(statements)).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  await Promise.all([a.append(turnEntries('t2')), c.append(turnEntries('t2'))]);
  for (const number of [1, 3])
    expect(await turnsInShort(home.open(), idOf(number))).toEqual([
      wholeTurn('t1'),
      wholeTurn('t2'),
    ]);
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
  const big = [
    turnStarted('t1'),
    itemEntry('t1', agentMessage('a', 'x'.repeat(50_000))),
    turnEnded('t1'),
  ];
  const outcomes = await Promise.allSettled([
    a.append(turnEntries('t1')),
    b.append(big),
    c.append(turnEntries('t1')),
  ]);
  expect(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done')),
  ).toEqual(['done', 'store_full', 'done']);
  for (const number of [1, 3])
    expect(await turnsInShort(home.open(), idOf(number))).toEqual([wholeTurn('t1')]);
  db.pragma('max_page_count = 1000000');
  await b.append(big);
});

test('two appends of one writer in one moment keep their order', async () => {
  const home = tempHome();
  const writer = await home.open().createThread(threadRecord(1));
  await Promise.all([
    writer.append(turnEntries('t1')),
    writer.append(turnEntries('t2')),
    writer.append(turnEntries('t3')),
  ]);
  expect(await turnsInShort(home.open(), idOf(1))).toEqual(['t1', 't2', 't3'].map(wholeTurn));
});

test('an append that cannot be flushed stands if something was appended behind it', async () => {
  const home = tempHome();
  const flush = new Gate();
  const { store } = listening(home, async () => {
    await flush.pass();
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), {
      code: 'EIO',
      syscall: 'fdatasync',
    });
  });
  const writer = await store.createThread(threadRecord(1));
  const first = writer.append(turnEntries('t1'), { durable: true });
  await flush.reached;
  await writer.append(turnEntries('t2'));
  flush.open();
  await first;
  await writer.append(turnEntries('t3'));
  expect(await turnsInShort(store, idOf(1))).toEqual(['t1', 't2', 't3'].map(wholeTurn));
});

test('if writes are committed one by one, each is told so before the next one begins', () => {
  const steps: string[] = [];
  const write = (key: string): JoinedWrite => ({
    key,
    run: () => void steps.push(`${key} runs`),
    committed: () => void steps.push(`${key} is committed`),
  });
  let attempts = 0;
  const transact = <T>(work: () => T): T => {
    const result = work();
    if (++attempts === 1) throw new Error('too large together');
    return result;
  };
  const errors = commitTogether([write('a'), write('b')], {
    transact,
    part: (run) => run(),
    failureOf: (error) => error,
  });
  expect(errors).toEqual([null, null]);
  expect(steps).toEqual([
    'a runs',
    'b runs',
    'a runs',
    'a is committed',
    'b runs',
    'b is committed',
  ]);
});
