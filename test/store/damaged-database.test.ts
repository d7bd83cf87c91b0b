// @module-tag slow
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { SCHEMA_VERSION } from '../../src/store/sqlite/database/migrate.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  modelItems,
  storedItem,
  threadRecord,
  threadWithTurns,
  turnStarted,
  turnsInShort,
  turnsWithItems,
  wholeTurn,
} from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

const PAGE_BYTES = 1024;

const QUEUE = {
  waiting: [{ id: 'q1', clientUserMessageId: 'mine', chars: 10_000 }],
  begun: [],
};

function queuedOf(number: number) {
  const input = [{ type: 'text' as const, text: `${number} `.repeat(5_000) }];
  return { id: 'q1', clientUserMessageId: 'mine', input, responsesapiClientMetadata: null };
}

/** The threads of `homeWithThreads`. */
function recordOf(number: number) {
  return threadRecord(number, number === 3 ? {} : { queue: QUEUE });
}

/** A home with a closed database: two threads with long and short items, and a fork. */
async function homeWithThreads(): Promise<TempHome> {
  const home = tempHome();
  const store = home.open();
  for (const number of [1, 2]) {
    const writer = await threadWithTurns(store, number, ['t1', 't2', 't3']);
    await writer.append([
      turnStarted('t4'),
      itemEntry('t4', agentMessage('long', `${number}`.repeat(10_000))),
    ]);
    await writer.append([], {
      partials: [storedItem('t4', agentMessage('half'))],
      patch: { queue: QUEUE },
      queued: [queuedOf(number)],
    });
  }
  await store.forkThread(idOf(1), { afterTurnId: 't2' }, threadRecord(3));
  await store.close();
  return home;
}

const TURNS = [
  ['t1', 't2', 't3'].map(wholeTurn),
  ['t1', 't2', 't3'].map(wholeTurn),
  ['t1', 't2'].map(wholeTurn),
];

/** Everything in the home of `homeWithThreads`. */
async function readEverything(store: ThreadStore): Promise<void> {
  expect((await store.listThreads(everyThread)).data).toEqual([3, 2, 1].map(recordOf));
  for (const [index, turns] of TURNS.entries()) {
    const id = idOf(index + 1);
    expect(await store.getThread(id)).toEqual(recordOf(index + 1));
    if (index < 2) expect(await store.readQueued(id, ['q1'])).toEqual([queuedOf(index + 1)]);
    expect(await turnsInShort(store, id)).toEqual(
      index === 2 ? turns : [...turns, 't4 interrupted: long, half'],
    );
    expect(await modelItems(store, id)).toHaveLength(turns.length * 2);
    expect((await store.listItems(id, { direction: 'desc' })).data).toHaveLength(
      turns.length * 3 + (index === 2 ? 0 : 2),
    );
  }
  const [long] = (await store.listItems(idOf(2), { direction: 'asc', turnId: 't4' })).data;
  expect(long?.item).toEqual(agentMessage('long', '2'.repeat(10_000)));
}

function damaged(home: TempHome): object {
  return {
    name: 'StoreError',
    code: 'store_damaged',
    message: expect.stringMatching(new RegExp(`^${home.file} is damaged: `)),
  };
}

/** The names of what was set aside. */
function setAside(home: TempHome): string[] {
  return readdirSync(home.home).filter((name) => name.startsWith('heddle.db.'));
}

const REPAIRED = ['the database was damaged and has been repaired'];
const ASIDE = expect.stringMatching(/^heddle\.db\.damaged-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/);

describe('a file that is not a heddle database is set aside as it is, and new threads work at once', () => {
  const cases: [string, (home: TempHome) => void][] = [
    ['emptied', (home) => truncateSync(home.file, 0)],
    ['cut off in its header', (home) => truncateSync(home.file, 50)],
    ['cut off in the middle', (home) => truncateSync(home.file, 10 * PAGE_BYTES + 17)],
    ['overwritten with text', (home) => writeFileSync(home.file, 'hello\n'.repeat(5000))],
    ['overwritten with zeros', (home) => writeFileSync(home.file, Buffer.alloc(10 * PAGE_BYTES))],
    [
      'emptied of its tables',
      (home) => replaceDatabase(home, (db) => db.exec('CREATE TABLE a (b)')),
    ],
    [
      'replaced by that of another program',
      (home) =>
        replaceDatabase(home, (db) => db.exec('CREATE TABLE a (b); PRAGMA user_version = 99')),
    ],
    [
      'of the right kind without its tables',
      (home) =>
        replaceDatabase(home, (db) =>
          db.exec('PRAGMA application_id = 1751475308; PRAGMA user_version = 1'),
        ),
    ],
  ];
  test.each(cases)('%s', async (_name, damage) => {
    const home = await homeWithThreads();
    damage(home);
    const before = readFileSync(home.file);
    const store = home.open();
    await threadWithTurns(store, 4, ['t1']);
    expect(await turnsInShort(store, idOf(4))).toEqual([wholeTurn('t1')]);
    expect((await store.listThreads(everyThread)).data.map(({ id }) => id)).toContain(idOf(4));
    expect(home.warnings).toEqual(REPAIRED);
    expect(home.repairs).toEqual([
      expect.stringMatching(
        /was damaged and has been repaired: .*is kept as .*heddle\.db\.damaged-/,
      ),
    ]);
    expect(setAside(home)).toEqual([ASIDE]);
    expect(readFileSync(join(home.home, setAside(home)[0] ?? '')).equals(before)).toBe(true);
    await store.close();
    expect(home.sql((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
  });

  test('emptied or missing, with a WAL beside it: what the WAL has is there', async () => {
    for (const damage of [(file: string) => writeFileSync(file, ''), () => {}]) {
      const home = tempHome();
      await threadWithTurns(home.open(), 1, ['t1']);
      const crashed = tempHome();
      mkdirSync(crashed.home);
      copyFileSync(`${home.file}-wal`, `${crashed.file}-wal`);
      damage(crashed.file);
      const store = crashed.open();
      expect(await store.getThread(idOf(2))).toBeNull();
      await threadWithTurns(store, 2, ['t1']);
      expect(crashed.warnings).toEqual(REPAIRED);
      expect(setAside(crashed)).toContainEqual(expect.stringMatching(/damaged-.*-wal$/));
    }
  });

  test('a newer one stays, and is refused', async () => {
    const home = await homeWithThreads();
    home.sql((db) => db.pragma('user_version = 99'));
    const versions = `has version 99, but this heddle supports versions up to ${SCHEMA_VERSION}`;
    const message = `${home.file} ${versions}: update heddle, or use another home`;
    await expect(home.open().listThreads(everyThread)).rejects.toMatchObject({
      code: 'store_newer',
      message,
    });
    expect(setAside(home)).toEqual([]);
  });
});

describe('a thread with a missing part is damaged, never shorter', () => {
  const cases: [string, string][] = [
    ['its first entry', 'DELETE FROM entry WHERE log_id = 1 AND ordinal = 1'],
    ['an entry in the middle', 'DELETE FROM entry WHERE log_id = 1 AND ordinal = 9'],
    ['its last entry', 'DELETE FROM entry WHERE log_id = 1 AND ordinal = 23'],
    ['all its entries', 'DELETE FROM entry WHERE log_id = 1'],
    ['the beginnings of its turns', "DELETE FROM entry WHERE log_id = 1 AND kind = 'turnStarted'"],
    ['its history', `DELETE FROM history WHERE thread_id = '${idOf(1)}'`],
    ['a segment that it shares', 'UPDATE history SET before_id = 99'],
    [
      'the end of its segments',
      'UPDATE shared_segment SET before_id = id; UPDATE history SET before_id = 1',
    ],
    [
      'an entry that cannot be parsed',
      "UPDATE entry SET payload = substr(payload, 2) WHERE log_id = 1 AND kind = 'item'",
    ],
    [
      'an entry that is something else',
      "UPDATE entry SET payload = '7' WHERE log_id = 1 AND kind = 'item'",
    ],
    [
      'an item that is nothing',
      'UPDATE entry SET payload = \'{"kind":"item"}\' WHERE log_id = 1 AND kind = \'item\'',
    ],
    ['a long string', `DELETE FROM blob WHERE content LIKE '"1%'`],
    ['an unfinished item that cannot be parsed', 'UPDATE partial SET payload = substr(payload, 2)'],
  ];
  test.each(cases)('%s', async (_name, sql) => {
    const home = await homeWithThreads();
    home.sql((db) => db.exec(`PRAGMA foreign_keys = OFF; ${sql}`));
    const store = home.open();
    await expect(turnsWithItems(store, idOf(1))).rejects.toMatchObject(damaged(home));
    await expect(turnsWithItems(store, idOf(1), { direction: 'desc' })).rejects.toMatchObject(
      damaged(home),
    );
    await expect(store.listItems(idOf(1), { direction: 'asc' })).rejects.toMatchObject(
      damaged(home),
    );
    expect(await store.getThread(idOf(2))).toEqual(recordOf(2));
  });

  test.each(['its last entry', 'all its entries', 'its history'])(
    '%s: no writer, no fork, no prompt',
    async (name) => {
      const home = await homeWithThreads();
      home.sql((db) =>
        db.exec(`PRAGMA foreign_keys = OFF; ${cases.find(([key]) => key === name)?.[1]}`),
      );
      const store = home.open();
      await expect(store.openWriter(idOf(1))).rejects.toMatchObject(damaged(home));
      await expect(store.forkThread(idOf(1), null, threadRecord(4))).rejects.toMatchObject(
        damaged(home),
      );
      await expect(modelItems(store, idOf(1))).rejects.toMatchObject(damaged(home));
      expect(home.count('lease')).toBe(0);
    },
  );

  test('an entry in the middle: pages without it are shown, the page with it is refused', async () => {
    const home = await homeWithThreads();
    home.sql((db) => db.exec('DELETE FROM entry WHERE log_id = 1 AND ordinal = 9'));
    const store = home.open();
    const query = { direction: 'desc' as const, view: 'summary' as const, limit: 2 };
    const page = await store.listTurns(idOf(1), query);
    expect(page.data.map((turn) => turn.id)).toEqual(['t4', 't3']);
    await expect(
      store.listTurns(idOf(1), { ...query, cursor: page.nextCursor }),
    ).rejects.toMatchObject(damaged(home));
    await expect(turnsInShort(store, idOf(3))).rejects.toMatchObject(damaged(home));
  });
});

test.each([
  ['noise', 0xa5],
  ['zeros', 0],
])(
  'a damaged page of %s: everything is there, or it is told what was lost; and new threads work',
  async (_name, byte) => {
    const home = await homeWithThreads();
    const whole = readFileSync(home.file);
    await readEverything(home.open());
    for (let page = 1; page <= whole.length / PAGE_BYTES; page++) {
      const damagedHome = tempHome();
      mkdirSync(damagedHome.home);
      writeFileSync(
        damagedHome.file,
        Buffer.from(whole).fill(byte, (page - 1) * PAGE_BYTES, page * PAGE_BYTES),
      );
      const store = damagedHome.open();
      const failure = await readEverything(store).then(
        () => null,
        (error: unknown) => error,
      );
      const told = damagedHome.repairs.join();
      // A record that SQLite can read and nobody can parse is found when its thread is read.
      if (failure !== null && told === '')
        expect(failure, `page ${page}`).toMatchObject(damaged(damagedHome));
      else if (failure !== null)
        expect(told, `page ${page}: ${failure}`).toMatch(/Lost: |Nothing of it could be read/);
      await threadWithTurns(store, 9, ['t1']);
      expect(await turnsInShort(store, idOf(9)), `page ${page}`).toEqual([wholeTurn('t1')]);
      if (told !== '')
        for (const { id } of (await store.listThreads(everyThread)).data)
          await turnsInShort(store, id);
      await damagedHome.dispose();
    }
  },
  60_000,
);

function replaceDatabase(home: TempHome, fill: (db: Database.Database) => void): void {
  rmSync(home.file);
  const db = neverCollect(new Database(home.file));
  fill(db);
  db.close();
}
