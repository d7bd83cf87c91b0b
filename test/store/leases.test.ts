import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Connect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { sweepLitter } from '../../src/store/sqlite/database/sweep-litter.ts';
import { idOf, threadRecord, threadWithTurns } from './samples.ts';
import { tempHome } from './temp-home.ts';

/**
 * Connects as usual, except one connection to a file whose name ends so. That fails when it opens
 * or at its first statement.
 */
function failOnce(
  end: string,
  at: 'opening' | 'locking',
): { connect: Connect; connections: Database.Database[] } {
  const connections: Database.Database[] = [];
  let failed = false;
  const connect: Connect = (file, options) => {
    const fails = !failed && file.endsWith(end);
    failed ||= fails;
    const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' });
    if (fails && at === 'opening') throw error;
    const db = neverCollect(new Database(file, options));
    connections.push(db);
    if (!fails) return db;
    return Object.assign(db, {
      exec: () => {
        throw error;
      },
    });
  };
  return { connect, connections };
}

const failed = { code: 'store_failed', message: expect.stringContaining('disk I/O error') };

test.each(['opening', 'locking'] as const)(
  'a process that fails to become a writer, at %s its file, leaves nothing and can try again',
  async (at) => {
    const home = tempHome();
    const { connect, connections } = failOnce('.lock', at);
    const store = home.open(connect);
    await expect(store.createThread(threadRecord(1))).rejects.toMatchObject(failed);
    expect(home.lockFiles()).toEqual([]);
    expect(connections.filter((db) => db.open).map((db) => db.name)).toEqual([
      `${home.home}/heddle-writers/gate`,
      home.file,
    ]);
    await threadWithTurns(store, 1, ['t1']);
    expect(home.lockFiles()).toHaveLength(1);
    await expect(home.open().openWriter(idOf(1))).rejects.toMatchObject({ code: 'active_writer' });
  },
);

test("a writer that failed to read a dead writer's lock file can be opened again", async () => {
  const home = tempHome();
  const { connect, connections } = failOnce('dead.lock', 'opening');
  const store = home.open(connect);
  await store.getThread(idOf(1));
  const writers = join(home.home, 'heddle-writers');
  writeFileSync(join(writers, 'dead.lock'), '');
  home.sql((db) =>
    db.exec("INSERT INTO lease (thread_id, owner, pid) VALUES ('gone', 'dead', 77)"),
  );
  await expect(store.createThread(threadRecord(1))).rejects.toMatchObject(failed);
  expect(home.lockFiles()).toEqual(['dead.lock']);
  expect(connections.filter((db) => db.open).map((db) => db.name)).toEqual([
    `${home.home}/heddle-writers/gate`,
    home.file,
  ]);
  await threadWithTurns(store, 1, ['t1']);
  expect(home.lockFiles()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\.lock$/)]);
});

test('the leases of a dead process are removed even if the thread that is opened is then refused', async () => {
  const home = tempHome();
  const first = home.open();
  await threadWithTurns(first, 1, ['t1']);
  await first.archiveThread(idOf(1), 5);
  await first.close();
  home.sql((db) => {
    db.exec("INSERT INTO lease (thread_id, owner, pid) VALUES ('gone', 'dead', 77)");
    db.exec("INSERT INTO held_log (owner, thread_id, log_id) SELECT 'dead', 'gone', id FROM log");
  });
  await expect(home.open().openWriter(idOf(1))).rejects.toMatchObject({ code: 'thread_archived' });
  expect([home.count('lease'), home.count('held_log')]).toEqual([0, 0]);
});

test('a lock file that another process removes before it is locked is made again', async () => {
  const home = tempHome();
  let removed = false;
  const store = home.open((file, options) => {
    const db = neverCollect(new Database(file, options));
    if (file.endsWith('.lock') && !removed) {
      removed = true;
      rmSync(file);
    }
    return db;
  });
  await threadWithTurns(store, 1, ['t1']);
  const [name = ''] = readdirSync(join(home.home, 'heddle-writers'));
  await expect(home.open().openWriter(idOf(1))).rejects.toMatchObject({ code: 'active_writer' });
  expect({ removed, name }).toEqual({ removed: true, name: expect.stringMatching(/\.lock$/) });
});

test('while what dead processes left is removed, no dead writer is taken for alive', async () => {
  const home = tempHome();
  const reader = home.open();
  await reader.createThread(threadRecord(1)).then((writer) => writer.close());
  const writers = join(home.home, 'heddle-writers');
  for (const owner of ['dead', 'none']) writeFileSync(join(writers, `${owner}.lock`), '');
  home.sql((db) =>
    db.exec(
      `INSERT OR REPLACE INTO lease (thread_id, owner, pid) VALUES ('${idOf(1)}', 'dead', 77)`,
    ),
  );
  const connect: Connect = (file, options) =>
    neverCollect(new Database(file, { timeout: 0, ...options }));
  const locked: string[] = [];
  const sweeping: Connect = (file, options) => {
    locked.push(basename(file));
    return connect(file, options);
  };
  const { file, tempDir, log } = home.options();
  await sweepLitter({ file, tempDir, log, connect: sweeping, owners: () => ['dead'] });
  expect(locked).toContain('none.lock');
  expect(locked).not.toContain('dead.lock');
  expect(home.lockFiles()).not.toContain('none.lock');
  await (await home.open().openWriter(idOf(1))).close();
  expect(home.lockFiles()).not.toContain('dead.lock');
});
