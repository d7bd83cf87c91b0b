// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  everyThread,
  idOf,
  itemsOf,
  threadRecord,
  threadWithTurns,
  turnEntries,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { migrationsDir, type TempHome, tempHome } from './temp-home.ts';

const script = fileURLToPath(new URL('./store-child.ts', import.meta.url));

/** Starts a job of `store-child.ts` on a home. */
function start(home: TempHome, job: string, number = 1) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', script, home.file, migrationsDir, job, String(number)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => kill(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${job} ended too early`);
    return String(value);
  };
  return { child, line };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function endInput(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.stdin?.end();
  expect(await exit).toEqual([0, null]);
}

test('a thread has one writer in all processes, until that process is killed; its turn then ends interrupted', async () => {
  const home = tempHome();
  const { child, line } = start(home, 'turn');
  expect(await line()).toBe('ready');
  const store = home.open();
  const refused = {
    code: 'active_writer',
    message: `thread ${idOf(1)} already has an active writer (pid ${child.pid})`,
    details: { pid: child.pid },
  };
  await expect(store.openWriter(idOf(1))).rejects.toMatchObject(refused);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), 't2 inProgress: u, c, a']);

  await kill(child);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), 't2 interrupted: u, c, a']);
  const writer = await store.openWriter(idOf(1));
  await writer.append(turnEntries('t3'));
  expect(await turnsInShort(home.open(), idOf(1))).toEqual([
    wholeTurn('t1'),
    't2 interrupted: u, c, a',
    wholeTurn('t3'),
  ]);
  expect(home.lockFiles(), 'the dead owner is cleared away').toHaveLength(1);
});

test('of several processes that find a damaged page, one repairs the database, the others follow, and all go on with their threads', async () => {
  const home = tempHome();
  const children = [1, 2, 3].map((number) => start(home, 'goes on', number));
  for (const { line } of children) expect(await line()).toBe('ready');
  const [root, bytes] = home.sql((db) => {
    db.pragma('wal_checkpoint(TRUNCATE)');
    const page = Number(
      db
        .prepare("SELECT rootpage FROM sqlite_master WHERE name = 'thread_by_creation'")
        .pluck()
        .get(),
    );
    return [page, Number(db.pragma('page_size', { simple: true }))];
  });
  const descriptor = openSync(home.file, 'r+');
  writeSync(descriptor, Buffer.alloc(bytes, 0xa5), 0, bytes, (root - 1) * bytes);
  closeSync(descriptor);
  const said: string[] = [];
  for (let round = 0; round < 2; round++) {
    for (const { child } of children) child.stdin?.write('go on\n');
    for (const { line } of children) {
      let text = await line();
      for (; text === 'repaired'; text = await line()) said.push(text);
      said.push(text);
    }
  }
  expect(said.filter((text) => text !== 'appended')).toEqual(['repaired']);
  for (const { child } of children) await endInput(child);
  const store = home.open();
  for (const number of [1, 2, 3])
    expect(await turnsInShort(store, idOf(number))).toEqual(['t1', 't2', 't3'].map(wholeTurn));
  expect(
    readdirSync(home.home).filter((name) => name.startsWith('heddle.db.damaged-')),
  ).toHaveLength(1);
});

test('an append that has resolved survives kill -9', async () => {
  const home = tempHome();
  const { child, line } = start(home, 'appends');
  let appended = 0;
  while (appended < 100) appended = Number(await line());
  await kill(child);
  const store = home.open();
  const items = (await itemsOf(store, idOf(1))).map(({ item }) => item);
  expect(items.length).toBeGreaterThanOrEqual(appended);
  for (const [index, item] of items.entries()) {
    expect(item).toEqual({
      type: 'agentMessage',
      id: `a${index + 1}`,
      text: 'x'.repeat(((index + 1) * 997) % 20_000),
      phase: null,
    });
  }
});

test('processes that start at once in a new home share one database and lose nothing', async () => {
  const home = tempHome();
  const children = [100, 200, 300].map((number) => start(home, 'threads', number));
  for (const { line } of children) expect(await line()).toBe('ready');
  for (const { child } of children) await endInput(child);
  expect(readdirSync(home.home).sort()).toEqual(['heddle-writers', 'heddle.db']);
  expect(home.lockFiles()).toEqual([]);
  const store = home.open();
  const { data } = await store.listThreads(everyThread);
  expect(data).toHaveLength(60);
  for (const { id } of data)
    expect(await turnsInShort(store, id)).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
});

test('the logs that a killed process had deleted or held for ephemeral threads are collected by the next one that writes', async () => {
  const home = tempHome();
  const { child, line } = start(home, 'deletes');
  expect(await line()).toBe('ready');
  const store = home.open();
  const refused = { code: 'active_writer', details: { pid: child.pid } };
  await expect(store.deleteThread(idOf(1))).rejects.toMatchObject(refused);
  await kill(child);
  expect(home.count('discarded_log')).toBe(1);
  await store.deleteThread(idOf(1));
  expect([
    home.count('thread'),
    home.count('history'),
    home.count('partial'),
    home.count('lease'),
  ]).toEqual([0, 0, 0, 0]);
  home.clock.advance(60_000);
  expect(
    home.count('entry'),
    'the killed process may still hold it, as far as this one knows',
  ).toBe(1402 + 1);

  await threadWithTurns(store, 4, ['t1']);
  home.clock.advance(60_000);
  expect([
    home.count('log'),
    home.count('entry'),
    home.count('blob'),
    home.count('blob_use'),
    home.count('held_log'),
  ]).toEqual([1, 7, 0, 0, 0]);
});

test('forks of threads that another process deletes meanwhile are complete, or refused', {
  timeout: 60_000,
}, async () => {
  const home = tempHome();
  const store = home.open();
  await threadWithTurns(store, 1, ['t1', 't2', 't3']);
  const { child, line } = start(home, 'forks');
  const seen = new Set([await line()]);
  for (let number = 2; number < 100; number++) {
    await threadWithTurns(store, number, ['t1', 't2', 't3']);
    await store.deleteThread(idOf(number - 1));
    home.clock.advance(10_000);
    seen.add(await line());
  }
  await kill(child);
  expect([...seen].filter((line) => line !== 'thread_not_found')).toEqual(['3 turns of 3 items']);
  await (await store.createThread(threadRecord(200))).close();
  home.clock.advance(60_000);
  expect(await turnsInShort(home.open(), idOf(99))).toEqual(['t1', 't2', 't3'].map(wholeTurn));
});
