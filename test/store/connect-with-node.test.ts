import { describe, expect, test } from 'vitest';
import { connectWithNode } from '../../src/store/sqlite/connect/connect-with-node.ts';
import { hasUsableSqlite } from '../../src/store/sqlite/connect/native-build-problem.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { describeLateItems } from './late-items.contract.ts';
import { TempHome } from './temp-home.ts';
import { describeThreadChanges } from './thread-changes.contract.ts';
import { describeThreadLists } from './thread-lists.contract.ts';
import { describeThreadStore } from './thread-store.contract.ts';

/** Node 20 has no SQLite, and that of Node 22 cannot be used. */
const sqlite = hasUsableSqlite(process.versions) ? await import('node:sqlite') : null;

describe.runIf(sqlite !== null)('with the SQLite of Node', () => {
  const connect = (...args: Parameters<ReturnType<typeof connectWithNode>>) => {
    if (sqlite === null) throw new Error('this Node has no SQLite');
    return connectWithNode(sqlite.DatabaseSync)(...args);
  };

  class NodeHome extends TempHome {
    override open(): ThreadStore {
      return super.open(connect);
    }
  }

  describeThreadStore('the store', async () => new NodeHome());
  describeThreadLists('the lists of the store', async () => new NodeHome());
  describeThreadChanges('the store', async () => new NodeHome());
  describeLateItems('the store', async () => new NodeHome());

  test('a transaction that fails changes nothing, and one within another is undone alone', () => {
    const db = connect(':memory:');
    db.exec('CREATE TABLE t (n INTEGER)');
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    const fail = db.transaction((number: number) => {
      insert.run(number);
      throw new Error('no');
    });
    expect(() => fail.immediate(1)).toThrow('no');
    db.transaction(() => {
      insert.run(2);
      expect(() => fail(3)).toThrow('no');
      insert.run(4);
    }).deferred();
    expect(db.prepare('SELECT n FROM t').pluck().all()).toEqual([2, 4]);
    expect([db.inTransaction, db.open]).toEqual([false, true]);
    db.close();
    db.close();
    expect(db.open).toBe(false);
  });

  test('errors have the codes of better-sqlite3, and a file that must exist is not made', () => {
    const db = connect(':memory:');
    db.exec('CREATE TABLE t (n INTEGER UNIQUE); INSERT INTO t VALUES (1)');
    expect(() => db.prepare('INSERT INTO t VALUES (1)').run()).toThrow(
      expect.objectContaining({ code: 'SQLITE_CONSTRAINT' }),
    );
    expect(() => db.prepare('SELECT none FROM t')).toThrow(
      expect.objectContaining({ code: 'SQLITE_ERROR' }),
    );
    expect(() => connect('/nowhere/x.db', { fileMustExist: true })).toThrow(
      expect.objectContaining({ code: 'SQLITE_CANTOPEN' }),
    );
    db.close();
  });

  test('rows are objects, arrays or single values, read at once or one by one', () => {
    const db = connect(':memory:');
    db.exec('CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, 4)');
    expect(db.prepare('SELECT * FROM t').raw().all()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect([...db.prepare('SELECT * FROM t').pluck().iterate()]).toEqual([1, 3]);
    expect(db.prepare('SELECT b FROM t WHERE a = @a').get({ a: 3, unused: 0 })).toMatchObject({
      b: 4,
    });
    expect(db.prepare('SELECT b FROM t WHERE a = 9').get()).toBe(undefined);
    expect(db.pragma('user_version', { simple: true })).toBe(0);
    db.close();
  });
});
