import {
  copyFileSync,
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Connect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { SCHEMA_VERSION } from '../../src/store/sqlite/database/migrate.ts';
import { BUSY_MS_MAX } from '../../src/store/sqlite/store-queue.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { asFirstVersion } from './first-version.ts';
import { describeLateItems } from './late-items.contract.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  storedItem,
  textsForModel,
  threadRecord,
  threadWithTurns,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { migrationsDir, TempHome, tempHome } from './temp-home.ts';
import { describeThreadChanges } from './thread-changes.contract.ts';
import { describeThreadLists } from './thread-lists.contract.ts';
import { describeThreadStore } from './thread-store.contract.ts';

describeThreadStore('the SQLite store', async () => new TempHome());
describeThreadLists('the lists of the SQLite store', async () => new TempHome());

describeThreadChanges('the SQLite store', async () => new TempHome());

describeLateItems('the SQLite store', async () => new TempHome());

/** Connects as usual, and calls the test with every statement before it runs. */
function listen(onStatement: (sql: string) => void): Connect {
  return (file, options) =>
    new Database(file, { ...options, verbose: (sql) => onStatement(String(sql)) });
}

/** The paths of all files that this process has open. Empty where the system does not show them. */
function openFiles(): string[] {
  if (!existsSync('/proc/self/fd')) return [];
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return readlinkSync(join('/proc/self/fd', name));
    } catch {
      return [];
    }
  });
}

/** Connects as usual, and hands the connection to the database to the test. */
function spy(): { connect: Connect; db: () => Database.Database } {
  const connections: Database.Database[] = [];
  const connect: Connect = (file, options) => {
    const db = neverCollect(new Database(file, options));
    if (file.endsWith('heddle.db')) connections.push(db);
    return db;
  };
  return {
    connect,
    db: () => {
      const db = connections.at(-1);
      if (db === undefined) throw new Error('the database is not open');
      return db;
    },
  };
}

describe('a full disk', () => {
  test('refuses an append without writing any of it, and the same store goes on once there is space', async () => {
    const home = tempHome();
    const { connect, db } = spy();
    const store = home.open(connect);
    const writer = await threadWithTurns(store, 1, ['t1']);
    const big = [turnStarted('t2'), itemEntry('t2', agentMessage('a', 'x'.repeat(50_000)))];
    const full = {
      code: 'store_full',
      message: expect.stringMatching(
        /heddle\.db cannot grow.*Nothing was written\. Free some space/,
      ),
    };

    db().pragma(`max_page_count = ${db().pragma('page_count', { simple: true })}`);
    await expect(
      writer.append(big, { patch: { name: 'not yet' }, durable: true }),
    ).rejects.toMatchObject(full);
    await expect(
      writer.append([], { partials: [storedItem('t2', agentMessage('a', 'x'.repeat(50_000)))] }),
    ).rejects.toMatchObject(full);
    await expect(
      store.createThread(threadRecord(2, { preview: 'x'.repeat(50_000) })),
    ).rejects.toMatchObject(full);
    expect(await store.getThread(idOf(1))).toMatchObject({ name: null });
    expect(await store.getThread(idOf(2))).toBeNull();
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);

    db().pragma('max_page_count = 1000000');
    await writer.append(big, { patch: { name: 'now' }, durable: true });
    await store.createThread(threadRecord(2));
    expect(await turnsInShort(home.open(), idOf(1))).toEqual([wholeTurn('t1'), 't2 inProgress: a']);
  });

  test('while the database is made leaves nothing behind, and the same store makes it once there is space', async () => {
    const home = tempHome();
    let pages = 3;
    const store = home.open((file, options) => {
      const db = neverCollect(new Database(file, options));
      db.pragma(`max_page_count = ${pages}`);
      return db;
    });
    await expect(store.getThread(idOf(1))).rejects.toMatchObject({
      code: 'store_full',
      message: expect.stringContaining(home.file),
    });
    expect(readdirSync(home.home)).toEqual(['heddle-writers']);
    expect(readdirSync(`${home.home}/heddle-writers`)).toEqual(['gate']);
    pages = 1_000_000;
    await threadWithTurns(store, 1, ['t1']);
  });

  test('that prevents the release of a lease does no harm: the thread can be opened again', async () => {
    const home = tempHome();
    const { connect, db } = spy();
    const store = home.open(connect);
    const writer = await threadWithTurns(store, 1, ['t1']);
    db().exec(
      "CREATE TEMP TRIGGER full BEFORE DELETE ON main.lease BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    await writer.close();
    expect(home.warnings).toEqual([
      'a lease or logs could not be released; the next release tries again',
    ]);
    const again = await store.openWriter(idOf(1));
    db().exec('DROP TRIGGER full');
    await again.append(turnEntries('t2'));
    await again.close();
    await home.open().openWriter(idOf(1));
  });
});

test('a lease that cannot be released for a minute, because another program has the lock, is released with the next one', async () => {
  const home = tempHome();
  const waitClock = new FakeClock();
  const store = home.open(undefined, { waitClock });
  const writers = [
    await threadWithTurns(store, 1, ['t1']),
    await threadWithTurns(store, 2, ['t1']),
  ];
  const other = neverCollect(new Database(home.file));
  other.exec('BEGIN IMMEDIATE');
  const closed = writers[0]?.close();
  await waitClock.nextTimer();
  // The last pause may end later than the minute.
  waitClock.advance(2 * BUSY_MS_MAX);
  await closed;
  expect(home.warnings).toEqual([
    'a lease or logs could not be released; the next release tries again',
  ]);
  other.close();
  await writers[1]?.close();
  for (const number of [1, 2]) await home.open().openWriter(idOf(number));
});

test.each([0, 1, 2, 3, 5, 8, 13])(
  'calls that are made while a store closes, after %i ticks, are done or refused, and nothing stays open',
  async (ticks) => {
    for (const isOpen of [false, true]) {
      const home = tempHome();
      await threadWithTurns(home.open(), 1, ['t1']);
      await home.closeAll();
      const store = home.open();
      const appended = store
        .openWriter(idOf(1))
        .then((writer) => writer.append(turnEntries('t2'), { durable: true }));
      const calls = Promise.allSettled([
        appended,
        store.createThread(threadRecord(2)),
        store.updateThread(idOf(1), { name: 'new' }),
      ]);
      if (isOpen) await nextRound();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      await store.close();
      const done = (await calls).map(
        (outcome) => outcome.status === 'fulfilled' || outcome.reason.message,
      );
      expect(
        done.filter(
          (outcome) =>
            outcome !== true && !outcome.endsWith('cannot be used (the store is closed)'),
        ),
      ).toEqual([]);
      await nextRound();
      expect(openFiles().filter((path) => path.startsWith(home.folder))).toEqual([]);
      const [, , renamed] = done;
      const after = home.open();
      expect(await turnsInShort(after, idOf(1))).toEqual(
        done[0] === true ? [wholeTurn('t1'), wholeTurn('t2')] : [wholeTurn('t1')],
      );
      expect((await after.getThread(idOf(1)))?.name).toBe(renamed === true ? 'new' : null);
    }
  },
);

describe('the stored data', () => {
  test('has a long string once for all entries that have it', async () => {
    const home = tempHome();
    const store = home.open();
    const image = `data:image/png;base64,${'A'.repeat(100_000)}`;
    for (const number of [1, 2]) {
      const writer = await threadWithTurns(store, number, ['t1']);
      await writer.append([
        turnStarted('t2'),
        itemEntry('t2', agentMessage('a', image)),
        itemEntry('t2', agentMessage('b', image)),
      ]);
    }
    expect([home.count('blob'), home.count('blob_use')]).toEqual([1, 2]);
    expect(
      home.sql((db) => db.prepare('SELECT max(length(payload)) FROM entry').pluck().get()),
    ).toBeLessThan(1000);
  });

  test('is not copied by a fork', async () => {
    const home = tempHome();
    const store = home.open();
    await threadWithTurns(store, 1, ['t1', 't2', 't3']);
    const entries = home.count('entry');
    await store.forkThread(idOf(1), null, threadRecord(2));
    await store.forkThread(idOf(2), { afterTurnId: 't2' }, threadRecord(3));
    expect(home.count('entry')).toBe(entries);
    const rows = (sql: string) => home.sql((db) => db.prepare(sql).raw().all());
    expect(
      rows('SELECT id, before_id, log_id, last_ordinal FROM shared_segment ORDER BY 1'),
    ).toEqual([
      [1, 0, 1, 21],
      [2, 0, 1, 14],
    ]);
    expect(rows('SELECT thread_id, before_id, log_id FROM history ORDER BY 1')).toEqual([
      [idOf(1), 0, 1],
      [idOf(2), 1, 2],
      [idOf(3), 2, 3],
    ]);
  });

  test('of 100 forks of forks, each with a turn of its own, adds one row for each fork', async () => {
    const home = tempHome();
    const store = home.open();
    const forks = 100;
    await threadWithTurns(store, 1, ['t1']);
    for (let fork = 2; fork <= forks + 1; fork++) {
      const writer = await store.forkThread(idOf(fork - 1), null, threadRecord(fork));
      await writer.append(turnEntries(`t${fork}`));
      await writer.close();
    }
    expect(home.count('shared_segment')).toBe(forks);
    const turns = Array.from({ length: forks + 1 }, (_, index) => wholeTurn(`t${index + 1}`));
    expect(await turnsInShort(store, idOf(forks + 1))).toEqual(turns);
    for (let fork = 1; fork <= forks; fork++) await store.deleteThread(idOf(fork));
    expect(await turnsInShort(home.open(), idOf(forks + 1))).toEqual(turns);
    await store.deleteThread(idOf(forks + 1));
    expect([home.count('shared_segment'), home.count('history')]).toEqual([0, 0]);
  });

  test('of an unknown kind is kept and skipped, in forks too', async () => {
    const home = tempHome();
    const writer = await threadWithTurns(home.open(), 1, ['t1']);
    await writer.close();
    const payload = '{"kind":"fromTheFuture","turnId":"t1","value":1}';
    home.sql((db) => {
      db.exec('UPDATE thread SET tip = tip + 1');
      db.prepare(
        "INSERT INTO entry SELECT log_id, ordinal + 1, 'fromTheFuture', NULL, 't1', NULL, ? FROM entry WHERE ordinal = 7",
      ).run(payload);
    });
    const store = home.open();
    await (await store.openWriter(idOf(1))).append(turnEntries('t2'));
    const fork = await store.forkThread(idOf(1), { afterTurnId: 't1' }, threadRecord(2));
    await fork.append(turnEntries('t3'));
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
    expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn('t1'), wholeTurn('t3')]);
    expect((await store.listItems(idOf(1), { direction: 'desc' })).data).toHaveLength(6);
    expect(await textsForModel(store, idOf(2))).toEqual([
      't1 question',
      't1 answer',
      't3 question',
      't3 answer',
    ]);
    expect(
      home.sql((db) =>
        db.prepare("SELECT payload FROM entry WHERE kind = 'fromTheFuture'").pluck().all(),
      ),
    ).toEqual([payload]);
  });

  test('of unfinished items is removed when their turn ends, however it ends', async () => {
    const home = tempHome();
    const store = home.open();
    const writer = await store.createThread(threadRecord(1));
    await writer.append([turnStarted('t1')]);
    await writer.append([], { partials: [storedItem('t1', agentMessage('a'))] });
    await writer.append([turnEnded('t1')]);
    expect(home.count('partial')).toBe(0);
    await writer.append([turnStarted('t2')]);
    await writer.append([], { partials: [storedItem('t2', agentMessage('b'))] });
    await writer.close();
    await store.openWriter(idOf(1));
    expect(home.count('partial')).toBe(0);
  });

  test('has nothing of an ephemeral thread on disk', async () => {
    const home = tempHome();
    const store = home.open();
    const writer = await store.createThread(threadRecord(1, { ephemeral: true, path: null }), [
      turnStarted('t1'),
    ]);
    await writer.append([itemEntry('t1', agentMessage('a', 'a passing word'))]);
    await writer.append([], { partials: [storedItem('t1', agentMessage('b', 'a passing word'))] });
    await store.createThread(threadRecord(2, { preview: 'a lasting word' }));
    const files = readdirSync(home.home, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const bytes = files
      .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1'))
      .join();
    expect(bytes).toContain('a lasting word');
    expect(bytes).not.toContain('a passing word');
  });
});

describe('the file', () => {
  test('is made at the first use, for its owner only', async () => {
    const home = tempHome();
    const store = home.open();
    expect(existsSync(home.home)).toBe(false);
    await store.listThreads(everyThread);
    expect(statSync(home.home).mode & 0o777).toBe(0o700);
    const files = ['heddle-writers/gate', 'heddle.db', 'heddle.db-shm', 'heddle.db-wal'];
    expect(readdirSync(home.home).sort()).toEqual(['heddle-writers', ...files.slice(1)]);
    for (const name of files) expect(statSync(`${home.home}/${name}`).mode & 0o777).toBe(0o600);
  });

  test('is the only one that a closed store leaves, and has no lease of a thread', async () => {
    const home = tempHome();
    const store = home.open();
    const writer = await threadWithTurns(store, 1, ['t1']);
    await store.createThread(threadRecord(2));
    await writer.append(turnEntries('t2'));
    expect(home.lockFiles()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\.lock$/)]);
    await store.close();
    expect(readdirSync(home.home).sort()).toEqual(['heddle-writers', 'heddle.db']);
    expect(home.lockFiles()).toEqual([]);
    expect(home.count('lease')).toBe(0);
  });

  test('gets the WAL moved into it once nothing has been written for a second', async () => {
    const home = tempHome();
    const writer = await threadWithTurns(home.open(), 1, ['t1']);
    const inFile = () => readFileSync(home.file, 'latin1').includes('t2 answer');
    home.clock.advance(999);
    await writer.append(turnEntries('t2'));
    home.clock.advance(999);
    expect(inFile()).toBe(false);
    home.clock.advance(1);
    expect(inFile()).toBe(true);
  });

  test('is the one of another process if that makes it first', async () => {
    const other = tempHome();
    const first = other.open();
    await threadWithTurns(first, 1, ['t1']);
    await first.close();
    const home = tempHome();
    const store = home.open((file, options) => {
      if (file.endsWith('.new')) copyFileSync(other.file, home.file);
      return neverCollect(new Database(file, options));
    });
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
    await store.close();
    expect(readdirSync(home.home)).toEqual(['heddle-writers', 'heddle.db']);
  });

  test('is opened again by the next call if it could not be opened', async () => {
    const home = tempHome();
    let refuses = true;
    const store = home.open((file, options) => {
      if (refuses) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
      return neverCollect(new Database(file, options));
    });
    const refused = {
      code: 'store_failed',
      message: expect.stringMatching(
        /heddle\.db cannot be used: the disk, or the connection to it, reported an error.*\(disk I\/O error\)/,
      ),
    };
    await expect(store.getThread(idOf(1))).rejects.toMatchObject(refused);
    refuses = false;
    expect(await store.getThread(idOf(1))).toBeNull();
  });

  test('is refused by a version of SQLite that can corrupt it', async () => {
    const home = tempHome();
    await home.open().getThread(idOf(1));
    const store = home.open((file, options) => {
      const db = neverCollect(new Database(file, options));
      db.function('sqlite_version', () => '3.51.2');
      return db;
    });
    const refused = {
      code: 'store_failed',
      message: 'SQLite 3.51.2 is too old: heddle needs 3.51.3 or later',
    };
    await expect(store.getThread(idOf(1))).rejects.toMatchObject(refused);
  });

  test('of the first version is migrated with its data', async () => {
    const home = tempHome();
    const first = home.open();
    await threadWithTurns(first, 1, ['t1']);
    await first.close();
    asFirstVersion(home);
    const store = home.open();
    expect(await store.getThread(idOf(1))).toEqual(threadRecord(1));
    expect(await store.updateThread(idOf(1), { memoryMode: 'disabled' })).toEqual(
      threadRecord(1, { memoryMode: 'disabled' }),
    );
    expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
  });

  test('has the version of the newest migration', () => {
    expect(readdirSync(migrationsDir)).toHaveLength(SCHEMA_VERSION);
  });
});

test('a writer whose thread another process has taken over writes nothing more', async () => {
  const home = tempHome();
  const store = home.open();
  const writer = await threadWithTurns(store, 1, ['t1']);
  home.sql((db) => db.exec("UPDATE lease SET owner = 'another', pid = 77"));
  const refused = { code: 'active_writer', details: { pid: 77 } };
  await expect(writer.append([turnEnded('t1')])).rejects.toMatchObject(refused);
  await expect(
    writer.append([], { partials: [storedItem('t1', agentMessage('a'))] }),
  ).rejects.toMatchObject(refused);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
});

test('a durable append is on the disk when it resolves, others are left to the next one', async () => {
  const home = tempHome();
  const steps: string[] = [];
  const connect = listen((sql) => {
    if (sql === 'COMMIT') steps.push(sql);
  });
  // The inode of the WAL, because SQLite may flush it with another descriptor.
  const syncFile = async (descriptor: number) =>
    void steps.push(fstatSync(descriptor).ino === statSync(`${home.file}-wal`).ino ? 'flush' : '?');
  const writer = await threadWithTurns(home.open(connect, { walSync: { sync: syncFile } }), 1, [
    't1',
  ]);
  steps.length = 0;
  await writer.append([turnStarted('t2')]);
  expect(steps).toEqual(['COMMIT']);
  await writer.append([turnEnded('t2')], { durable: true });
  expect(steps).toEqual(['COMMIT', 'COMMIT', 'flush']);
});

test('a read sees one state, even if other processes write meanwhile', async () => {
  const home = tempHome();
  const writer = await threadWithTurns(home.open(), 1, ['t1']);
  await writer.append([turnStarted('t2')]);
  await writer.append([], { partials: [storedItem('t2', agentMessage('a'))] });
  const meanwhile: Promise<void>[] = [];
  const reader = home.open(
    listen((sql) => {
      if (sql.includes('FROM history') && meanwhile.length === 0)
        meanwhile.push(writer.append([itemEntry('t2', agentMessage('a')), turnEnded('t2')]));
    }),
  );
  expect(await turnsInShort(reader, idOf(1))).toEqual([wholeTurn('t1'), 't2 inProgress: a']);
  await Promise.all(meanwhile);
  expect(meanwhile).toHaveLength(1);
  expect(await turnsInShort(reader, idOf(1))).toEqual([wholeTurn('t1'), 't2 completed: a']);
});
