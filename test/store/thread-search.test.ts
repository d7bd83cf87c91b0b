import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { keepAlive } from '../../src/store/connect-sqlite.ts';
import type { ThreadQuery } from '../../src/store/store.ts';
import { asFirstVersion } from './first-version.ts';
import { everyThread, idOf, threadRecord } from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

async function found(home: TempHome, searchTerm: string): Promise<string[]> {
  const { data } = await home.open().listThreads({ ...everyThread, searchTerm });
  return data.map(({ id }) => id);
}

test('a database from before there was a search is searched like a new one', async () => {
  const home = tempHome();
  const first = home.open();
  await first.createThread(threadRecord(1, { name: 'Grüße', preview: 'an old thread', originator: 'editor' }));
  await first.createThread(threadRecord(2, { preview: 'another' }));
  await first.createThread(threadRecord(3, { preview: 'broken' }));
  await first.close();
  home.sql((db) => db.exec(`UPDATE thread SET origin = '{' WHERE id = '${idOf(3)}'`));
  asFirstVersion(home);
  expect(await found(home, 'GRÜSSE')).toEqual([idOf(1)]);
  expect(await found(home, 'an')).toEqual([idOf(2), idOf(1)]);
  const { data } = await home.open().listThreads({ ...everyThread, originators: ['editor'] });
  expect(data.map(({ id }) => id)).toEqual([idOf(1)]);
});

test('the index is true after whatever is done to the table, also after VACUUM', async () => {
  const home = tempHome();
  for (let number = 1; number <= 4; number++) await home.open().createThread(threadRecord(number, { name: 'some name' }));
  home.sql((db) => {
    db.exec(`DELETE FROM lease; DELETE FROM segment; DELETE FROM thread WHERE id IN ('${idOf(1)}', '${idOf(3)}'); VACUUM`);
  });
  expect(await found(home, 'some')).toEqual([idOf(4), idOf(2)]);
  expect(await found(home, 'me')).toEqual([idOf(4), idOf(2)]);
  await home.open().updateThread(idOf(4), { name: 'other' });
  await home.open().createThread(threadRecord(5, { name: 'some more' }));
  expect(await found(home, 'some')).toEqual([idOf(5), idOf(2)]);
  expect([home.count('thread'), home.count('thread_text'), home.count('thread_index')]).toEqual([3, 3, 3]);
  expect(home.count("thread_trigram WHERE term = 'som'")).toBe(2);
});

test('a change of anything else leaves the index alone', async () => {
  const home = tempHome();
  const writer = await home.open().createThread(threadRecord(1, { name: 'name' }));
  home.sql((db) => db.exec("CREATE TRIGGER touched BEFORE UPDATE ON thread_text BEGIN SELECT RAISE(ABORT, 'touched'); END"));
  await writer.append([], { patch: { updatedAtMs: 9, recencyAtMs: 9, listed: true, name: 'name', preview: 'preview 1' } });
  await expect(writer.append([], { patch: { name: 'new name' } })).rejects.toThrow('touched');
});

test('a damaged index is told to searches and to what would change it, and is no harm to anything else', async () => {
  const home = tempHome();
  const writer = await home.open().createThread(threadRecord(1, { name: 'name' }));
  home.sql((db) => db.unsafeMode().exec('DELETE FROM thread_index_data'));
  const store = home.open();
  const damaged = { code: 'store_damaged', message: expect.stringContaining(home.file) };
  for (const searchTerm of ['name', 'na']) await expect(store.listThreads({ ...everyThread, searchTerm })).rejects.toMatchObject(damaged);
  await expect(store.updateThread(idOf(1), { name: 'new name' })).rejects.toMatchObject(damaged);
  await writer.append([], { patch: { updatedAtMs: 9 } });
  expect((await store.listThreads(everyThread)).data).toEqual([threadRecord(1, { name: 'name', updatedAtMs: 9 })]);
});

describe('no thread is read that is not returned', () => {
  const searches: Partial<ThreadQuery>[] = [null, 'rare', 'common', 'zz', 'co'].map((searchTerm) => ({ searchTerm }));
  const filters: Partial<ThreadQuery>[] = [
    {},
    { cwds: ['/a'], modelProviders: ['one'], sources: ['cli'], originators: ['editor'], excludedIds: [idOf(1)] },
    { archived: true, limit: 5 },
  ];
  const queries = searches.flatMap((search) => filters.map((filter): ThreadQuery => ({ ...everyThread, ...search, ...filter })));

  test.each(['createdAt', 'updatedAt', 'recencyAt'] as const)('in lists by %s', async (sortKey) => {
    const home = tempHome();
    const statements: string[] = [];
    const store = home.open((file, options) =>
      keepAlive(new Database(file, { ...options, verbose: (sql) => void statements.push(String(sql)) })),
    );
    for (let number = 1; number <= 510; number++) await store.createThread(threadRecord(number, { preview: `common ${number}` }));
    const { nextCursor } = await store.listThreads({ ...everyThread, sortKey, limit: 3 });
    statements.length = 0;
    for (const query of queries) {
      await store.listThreads({ ...query, sortKey, cursor: nextCursor });
      await store.listThreads({ ...query, sortKey, direction: 'asc' });
    }
    const plans = [...new Set(statements.filter((sql) => sql.startsWith('SELECT')))].map((sql) => planOf(home, sql));
    expect(plans.length).toBeGreaterThan(20);
    expect(plans.filter((plan) => /SCAN thread(_text)?\b|AUTOMATIC/.test(plan))).toEqual([]);
    const sorting = plans.filter((plan) => plan.includes('TEMP B-TREE FOR ORDER BY'));
    expect(sorting.filter((plan) => !plan.includes('SCAN json_each'))).toEqual([]);
  });
});

function planOf(home: TempHome, sql: string): string {
  return home.sql((db) => (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail).join('\n'));
}
