// @module-tag slow
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { lockHolder } from '../../src/store/sqlite/database/lock-holder.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { asFirstVersion } from './first-version.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  threadRecord,
  threadWithTurns,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { type WorkerHome, workerHome } from './worker-home.ts';

/** Takes the write lock of the database, as another process in mid write has it. */
function holdLock(home: WorkerHome): { release: () => void } {
  const db = neverCollect(new Database(home.file));
  onTestFinished(() => void db.close());
  db.exec('BEGIN IMMEDIATE');
  return { release: () => db.exec('ROLLBACK') };
}

describe('a lock of another process', () => {
  test('lets writes wait, and reads go on', async () => {
    const home = workerHome();
    const store = home.open();
    const writer = await threadWithTurns(store, 1, ['t1']);
    const { release } = holdLock(home);
    const writes = [
      writer.append(turnEntries('t2'), { durable: true }),
      store.updateThread(idOf(1), { name: 'later' }),
    ];
    for (let round = 0; round < 20; round++)
      expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
    expect(await store.getThread(idOf(1))).toMatchObject({ name: null });
    release();
    await Promise.all(writes);
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
    expect(await store.getThread(idOf(1))).toMatchObject({ name: 'later' });
  });

  test('is waited for when an older database is opened', async () => {
    const home = workerHome();
    await (await threadWithTurns(home.open(), 1, ['t1'])).close();
    await home.closeAll();
    asFirstVersion(home);
    const { release } = holdLock(home);
    const store = home.open();
    const read = store.getThread(idOf(1));
    // Another database is opened meanwhile, and so the first attempt has been made.
    await workerHome().open().getThread(idOf(1));
    release();
    expect(await read).toMatchObject({ id: idOf(1) });
  });

  test.runIf(process.platform === 'linux')('is of a process that can be named', async () => {
    const home = workerHome();
    await home.open().listThreads(everyThread);
    expect(lockHolder(home.file)).toBeNull();
    const { release } = holdLock(home);
    expect(lockHolder(home.file)).toBe(process.pid);
    release();
  });

  test('does not stop ephemeral threads', async () => {
    const home = workerHome();
    const store = home.open();
    await store.listThreads(everyThread);
    const { release } = holdLock(home);
    const writer = await store.createThread(threadRecord(1, { ephemeral: true, path: null }));
    await writer.append(turnEntries('t1'));
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
    release();
  });
});

describe('a thread that dies', () => {
  /**
   * Sends the thread of the store more than it can hold: one entry, which is not cut, because none
   * of its texts is long.
   */
  function overload(store: ThreadStore): Promise<unknown> {
    const content = Array.from({ length: 500_000 }, (_, number) => ({
      type: 'input_text' as const,
      text: `${number}`,
    }));
    return store.createThread(threadRecord(9), [
      turnStarted('t1'),
      { kind: 'model', turnId: 't1', item: { type: 'message', role: 'user', content } },
    ]);
  }

  function smallStore(
    home: WorkerHome,
    log = new RecordingLog(),
  ): { store: ThreadStore; log: RecordingLog } {
    return { store: home.open(undefined, { heapMbMax: 32, log }), log };
  }

  test('rejects only the call that kills it, and a writer goes on where it was', async () => {
    const home = workerHome();
    const { store, log } = smallStore(home);
    const writer = await threadWithTurns(store, 2, ['t1']);
    await writer.append([turnStarted('t2')]);
    const died = {
      code: 'store_failed',
      message: expect.stringMatching(
        /heddle\.db cannot be used: the worker of the store has died \(.*memory/,
      ),
    };
    const [killer, bystander] = await Promise.allSettled([
      overload(store),
      store.updateThread(idOf(2), { name: 'named' }),
    ]);
    expect(killer).toMatchObject({ status: 'rejected', reason: died });
    expect(bystander).toMatchObject({ status: 'fulfilled', value: { name: 'named' } });
    expect(log.errors()).toHaveLength(5);

    await writer.append([itemEntry('t2', agentMessage('a')), turnEnded('t2')]);
    expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn('t1'), 't2 completed: a']);
    await expect(home.open().openWriter(idOf(2))).rejects.toMatchObject({ code: 'active_writer' });
    await writer.close();
    await home.open().openWriter(idOf(2));
  });

  test('does not go on with a thread that another process has written to meanwhile', async () => {
    const home = workerHome();
    const { store } = smallStore(home);
    const writer = await threadWithTurns(store, 2, ['t1']);
    await expect(overload(store)).rejects.toMatchObject({ code: 'store_failed' });
    const other = await home.open().openWriter(idOf(2));
    await expect(writer.append(turnEntries('t2'))).rejects.toMatchObject({ code: 'active_writer' });
    await other.append(turnEntries('t3'));
    await other.close();
    const lost = {
      code: 'store_failed',
      message: expect.stringContaining('cannot be written any more, because its store has died'),
    };
    await expect(writer.append(turnEntries('t2'))).rejects.toMatchObject(lost);
    expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn('t1'), wholeTurn('t3')]);
  });

  test('leaves no writer behind that is closed while it is opened again', async () => {
    const home = workerHome();
    const { store } = smallStore(home);
    const writer = await threadWithTurns(store, 2, ['t1']);
    await expect(overload(store)).rejects.toMatchObject({ code: 'store_failed' });
    await Promise.allSettled([writer.append(turnEntries('t2')), writer.close()]);
    await home.open().openWriter(idOf(2));
  });

  test('that cannot start rejects every call with the reason', async () => {
    const home = workerHome();
    const log = new RecordingLog();
    const store = home.open(undefined, { script: join(home.folder, 'missing.cjs'), log });
    await expect(store.getThread(idOf(1))).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('missing.cjs'),
    });
    await store.close();
    await expect(store.getThread(idOf(1))).rejects.toMatchObject({
      message: expect.stringContaining('the store is closed'),
    });
  });
});

test('warming up opens a database that exists, and makes none', async () => {
  const home = workerHome();
  const store = home.open();
  store.warmUp();
  await store.close();
  const next = home.open();
  await next.getThread(idOf(1));
  expect(home.count('thread')).toBe(0);
});
