// @module-tag slow
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { loadSqlite, neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import {
  enterGate,
  enterGateAlone,
  leaveRequestOf,
  whileOthersLeave,
} from '../../src/store/sqlite/database/gate.ts';
import {
  idOf,
  threadRecord,
  threadWithTurns,
  turnEntries,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { tempHome } from './temp-home.ts';

test('a process is alone only while no other has the database open, and others wait for it and are told its id', async () => {
  const home = tempHome();
  const deps = { file: home.file, connect: await loadSqlite(null) };
  const store = home.open();
  await store.createThread(threadRecord(1));
  expect(enterGateAlone(deps, 0)).toBeNull();
  await store.close();
  const alone = enterGateAlone(deps, 0);
  expect(alone).not.toBeNull();
  expect(() => enterGate(deps, 10)).toThrow(
    `another process restores, repairs or compacts it (pid ${process.pid}): try again later`,
  );
  expect(enterGateAlone(deps, 0)).toBeNull();
  const next = home.open();
  await expect(next.getThread(idOf(1))).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('try again later'),
  });
  alone?.leave();
  expect(await next.getThread(idOf(1))).toEqual(threadRecord(1));
}, 20_000);

test('a request to leave ends with the work, and a stale one of a dead process changes nothing', async () => {
  const home = tempHome();
  expect(() =>
    whileOthersLeave(home.file, () => {
      expect(leaveRequestOf(home.file)).not.toBeNull();
      throw new Error('the work failed');
    }),
  ).toThrow('the work failed');
  expect(leaveRequestOf(home.file)).toBeNull();
  const store = home.open();
  const writer = await store.createThread(threadRecord(1));
  writeFileSync(`${home.home}/heddle-writers/leave-request`, '');
  await writer.append([{ kind: 'turnStarted', turnId: 't1', startedAtMs: 1 }]);
  const { data } = await store.listTurns(idOf(1), { direction: 'asc', view: 'summary' });
  expect(data.map(({ id, status }) => [id, status])).toEqual([['t1', 'inProgress']]);
  expect(readdirSync(`${home.home}/heddle-writers`)).toContain('gate');
});

test('a thread that another process takes while this one has left stays with that one, and all others go on here', async () => {
  const home = tempHome();
  let whileAway = () => {};
  const store = home.open((file, options) => {
    if (file === home.file) whileAway();
    return neverCollect(new Database(file, options));
  });
  const [taken, kept] = [
    await threadWithTurns(store, 1, ['t1']),
    await threadWithTurns(store, 2, ['t1']),
  ];
  const lock = neverCollect(new Database(join(home.home, 'heddle-writers', 'other.lock')));
  lock.exec('BEGIN EXCLUSIVE');
  whileAway = () =>
    home.sql((db) =>
      db.exec(
        `INSERT OR REPLACE INTO lease (thread_id, owner, pid) VALUES ('${idOf(1)}', 'other', 7)`,
      ),
    );
  writeFileSync(`${home.home}/heddle-writers/leave-request`, '');
  await kept.append(turnEntries('t2'));
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
  await expect(taken.append(turnEntries('t2'))).rejects.toMatchObject({
    code: 'active_writer',
    details: { pid: 7 },
  });
  lock.close();
});
