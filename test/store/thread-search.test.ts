import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { ThreadQuery } from '../../src/store/page-query.ts';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { asFirstVersion } from './first-version.ts';
import { everyThread, idOf, threadRecord, turnStarted } from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

async function found(home: TempHome, searchTerm: string): Promise<string[]> {
  const { data } = await home.open().listThreads({ ...everyThread, searchTerm });
  return data.map(({ id }) => id);
}

test('a database of a version without search is searched like a new one', async () => {
  const home = tempHome();
  const first = home.open();
  await first.createThread(
    threadRecord(1, { name: 'Grüße', preview: 'an old thread', originator: 'editor' }),
  );
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

test('the index is correct after every change of the table, also after VACUUM', async () => {
  const home = tempHome();
  for (let number = 1; number <= 4; number++)
    await home.open().createThread(threadRecord(number, { name: 'some name' }));
  home.sql((db) => {
    db.exec(
      `DELETE FROM lease; DELETE FROM history; DELETE FROM thread WHERE id IN ('${idOf(1)}', '${idOf(3)}'); VACUUM`,
    );
  });
  expect(await found(home, 'some')).toEqual([idOf(4), idOf(2)]);
  expect(await found(home, 'me')).toEqual([idOf(4), idOf(2)]);
  await home.open().updateThread(idOf(4), { name: 'other' });
  await home.open().createThread(threadRecord(5, { name: 'some more' }));
  expect(await found(home, 'some')).toEqual([idOf(5), idOf(2)]);
  expect([home.count('thread'), home.count('thread_text'), home.count('thread_index')]).toEqual([
    3, 3, 3,
  ]);
  expect(home.count("thread_trigram WHERE term = 'som'")).toBe(2);
});

test('a change of another column does not change the index', async () => {
  const home = tempHome();
  const writer = await home.open().createThread(threadRecord(1, { name: 'name' }));
  home.sql((db) =>
    db.exec(
      "CREATE TRIGGER touched BEFORE UPDATE ON thread_text BEGIN SELECT RAISE(ABORT, 'touched'); END",
    ),
  );
  await writer.append([], {
    patch: { updatedAtMs: 9, recencyAtMs: 9, listed: true, name: 'name', preview: 'preview 1' },
  });
  await expect(writer.append([], { patch: { name: 'new name' } })).rejects.toThrow('touched');
});

describe('a damaged index', () => {
  const damages: [string, string][] = [
    ['emptied', 'DELETE FROM thread_index_data'],
    ['without its structure', 'DELETE FROM thread_index_data WHERE id = 10'],
    ['overwritten', "UPDATE thread_index_data SET block = x'00ff00ff00ff00ff' WHERE id > 10"],
    ['without its pages', 'DELETE FROM thread_index_data WHERE id > 10'],
  ];
  const anew = 'the search index was damaged and has been rebuilt';

  /** A home with two named threads and a damaged index. */
  async function damagedHome(sql: string): Promise<TempHome> {
    const home = tempHome();
    const store = home.open();
    await store.createThread(threadRecord(1, { name: 'first name' }));
    await store.createThread(threadRecord(2, { name: 'second name' }));
    await store.close();
    home.sql((db) => db.unsafeMode().exec(sql));
    return home;
  }

  test.each(damages)('%s is rebuilt by the first search, once', async (_name, sql) => {
    for (const searchTerm of ['name', 'na']) {
      const home = await damagedHome(sql);
      const store = home.open();
      for (let time = 1; time <= 2; time++) {
        expect(
          (await store.listThreads({ ...everyThread, searchTerm })).data.map(({ id }) => id),
        ).toEqual([idOf(2), idOf(1)]);
      }
      expect(home.warnings).toEqual([anew]);
    }
  });

  test.each(damages.slice(0, 2))(
    '%s is rebuilt by the first write that would change it',
    async (_name, sql) => {
      const changes: ((store: ThreadStore) => Promise<unknown>)[] = [
        (store) => store.updateThread(idOf(1), { name: 'new name' }),
        async (store) =>
          (await store.openWriter(idOf(1))).append([turnStarted('t1')], {
            patch: { name: 'new name' },
          }),
        (store) => store.deleteThread(idOf(1)),
        (store) => store.createThread(threadRecord(3, { name: 'new name' })),
      ];
      for (const change of changes) {
        const home = await damagedHome(sql);
        const store = home.open();
        await change(store);
        expect(home.warnings).toEqual([anew]);
        const named = (await store.listThreads(everyThread)).data.filter(
          ({ name }) => name === 'new name',
        );
        expect(await found(home, 'new name')).toEqual(named.map(({ id }) => id));
        expect(await found(home, 'second')).toEqual([idOf(2)]);
        expect(home.count('thread_text')).toBe(home.count('thread'));
      }
    },
  );

  test('does not affect calls that do not need it', async () => {
    const home = await damagedHome('DELETE FROM thread_index_data');
    const store = home.open();
    const writer = await store.openWriter(idOf(1));
    await writer.append([], { patch: { updatedAtMs: 9 } });
    expect(await store.getThread(idOf(1))).toEqual(
      threadRecord(1, { name: 'first name', updatedAtMs: 9 }),
    );
    expect((await store.listThreads(everyThread)).data).toHaveLength(2);
    expect(home.warnings).toEqual([]);
  });

  test('that cannot be rebuilt makes calls that need it fail with the reason', async () => {
    const home = await damagedHome(
      "DELETE FROM thread_index_data; CREATE TRIGGER full BEFORE DELETE ON thread_text BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    const failed = { code: 'store_failed', message: expect.stringContaining('no room') };
    await expect(
      home.open().listThreads({ ...everyThread, searchTerm: 'name' }),
    ).rejects.toMatchObject(failed);
    await expect(home.open().updateThread(idOf(1), { name: 'new name' })).rejects.toMatchObject(
      failed,
    );
    expect((await home.open().listThreads(everyThread)).data.map(({ name }) => name)).toEqual([
      'second name',
      'first name',
    ]);
  });
});

describe('only returned threads are read', () => {
  const searches: Partial<ThreadQuery>[] = [null, 'rare', 'common', 'zz', 'co'].map(
    (searchTerm) => ({ searchTerm }),
  );
  const filters: Partial<ThreadQuery>[] = [
    {},
    {
      cwds: ['/a'],
      modelProviders: ['one'],
      sources: ['cli'],
      originators: ['editor'],
      excludedIds: [idOf(1)],
    },
    { archived: true, limit: 5 },
  ];
  const queries = searches.flatMap((search) =>
    filters.map((filter): ThreadQuery => ({ ...everyThread, ...search, ...filter })),
  );

  test.each(['createdAt', 'updatedAt', 'recencyAt'] as const)('in lists by %s', async (sortKey) => {
    const home = tempHome();
    const statements: string[] = [];
    const store = home.open((file, options) =>
      neverCollect(
        new Database(file, { ...options, verbose: (sql) => void statements.push(String(sql)) }),
      ),
    );
    for (let number = 1; number <= 510; number++)
      await store.createThread(threadRecord(number, { preview: `common ${number}` }));
    const { nextCursor } = await store.listThreads({ ...everyThread, sortKey, limit: 3 });
    statements.length = 0;
    for (const query of queries) {
      await store.listThreads({ ...query, sortKey, cursor: nextCursor });
      await store.listThreads({ ...query, sortKey, direction: 'asc' });
    }
    const plans = [...new Set(statements.filter((sql) => sql.startsWith('SELECT')))].map((sql) =>
      planOf(home, sql),
    );
    expect(plans.length).toBeGreaterThan(20);
    expect(plans.filter((plan) => /SCAN thread(_text)?\b|AUTOMATIC/.test(plan))).toEqual([]);
    const sorting = plans.filter((plan) => plan.includes('TEMP B-TREE FOR ORDER BY'));
    expect(sorting.filter((plan) => !plan.includes('SCAN json_each'))).toEqual([]);
  });
});

function planOf(home: TempHome, sql: string): string {
  return home.sql((db) =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join('\n'),
  );
}
