// @module-tag slow
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkDatabase } from '../../src/store/sqlite/maintenance/check-database.ts';
import { asFirstVersion } from './first-version.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  threadWithTurns,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

const PAGE_BYTES = 1024;
const THREADS = 12;
const RUNS = 40;

type Damage = { kind: 'page' | 'bytes' | 'zeros' | 'cut'; at: number; bytes: number };

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('page', 'bytes', 'zeros', 'cut'),
  at: fc.integer({ min: 0, max: 9_999 }),
  bytes: fc.integer({ min: 1, max: 6000 }),
});

/**
 * A closed database of threads that have turns, long texts, forks and an unfinished item, without a
 * WAL.
 */
async function sample(): Promise<Buffer> {
  const home = tempHome();
  const store = home.open();
  for (let number = 1; number <= THREADS; number++) {
    const writer = await threadWithTurns(store, number, ['t1', 't2', 't3']);
    await writer.append([
      turnStarted('t4'),
      itemEntry('t4', agentMessage('long', `${number} `.repeat(5_000))),
      turnEnded('t4'),
    ]);
    await writer.append([turnStarted('t5')]);
    await writer.append([], {
      partials: [storedItem('t5', agentMessage('half', 'x'.repeat(3_000)))],
    });
    if (number % 4 === 0)
      await store.forkThread(idOf(number), { afterTurnId: 't2' }, threadRecord(100 + number));
  }
  await store.close();
  return readFileSync(home.file);
}

function damaged(whole: Buffer, damages: readonly Damage[]): Buffer {
  let bytes = Buffer.from(whole);
  for (const { kind, at, bytes: length } of damages) {
    const start = Math.floor((at * bytes.length) / 10_000);
    const page = start - (start % PAGE_BYTES);
    const end = (from: number, count: number) => Math.min(bytes.length, from + count);
    if (kind === 'page') bytes.fill(0xa5, page, end(page, PAGE_BYTES));
    else if (kind === 'zeros') bytes.fill(0, start, end(start, length));
    else if (kind === 'cut') bytes = bytes.subarray(0, start);
    else
      for (let index = start; index < end(start, length); index += 7)
        bytes[index] = (index * 31) % 256;
  }
  return bytes;
}

/** Uses all threads until nothing new is wrong. Returns how many threads and turns can be read. */
async function readAll(
  home: TempHome,
): Promise<{ threads: number; turns: number; refused: number }> {
  const store = home.open();
  try {
    const { data } = await store.listThreads(everyThread);
    const counts = { threads: data.length, turns: 0, refused: 0 };
    for (const { id } of data) {
      const turns = await turnsInShort(store, id).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'store_damaged' });
        return null;
      });
      if (turns === null) counts.refused++;
      else counts.turns += turns.length;
    }
    return counts;
  } finally {
    await store.close();
  }
}

/** Damages the first page of a table or an index. */
function damagePage(home: TempHome, name: string): void {
  const [root, bytes] = home.sql((db) => [
    Number(db.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').pluck().get(name)),
    Number(db.pragma('page_size', { simple: true })),
  ]) as [number, number];
  writeFileSync(home.file, readFileSync(home.file).fill(0xa5, (root - 1) * bytes, root * bytes));
}

/**
 * A closed database: 2 is a fork of 1, 3 and 4 are forks of 2, 5 has no fork and is none, 6 is a
 * fork of 1 in the middle of a turn.
 */
async function homeWithForks(): Promise<TempHome> {
  const home = tempHome();
  const store = home.open();
  const writer = await threadWithTurns(store, 1, ['t1']);
  await (await store.forkThread(idOf(1), null, threadRecord(2))).append(turnEntries('t2'));
  for (const fork of [3, 4])
    await (await store.forkThread(idOf(2), null, threadRecord(fork))).append(turnEntries('t3'));
  await threadWithTurns(store, 5, ['t1']);
  await writer.append([turnStarted('t2'), itemEntry('t2', agentMessage('half'))]);
  await (await store.forkThread(idOf(1), null, threadRecord(6))).append(turnEntries('t3'));
  await writer.append([turnEnded('t2')]);
  await store.close();
  return home;
}

const FORKS: Record<number, string[]> = {
  1: [wholeTurn('t1'), 't2 completed: half'],
  2: [wholeTurn('t1'), wholeTurn('t2')],
  3: [wholeTurn('t1'), wholeTurn('t2'), wholeTurn('t3')],
  4: [wholeTurn('t1'), wholeTurn('t2'), wholeTurn('t3')],
  5: [wholeTurn('t1')],
  6: [wholeTurn('t1'), 't2 interrupted: half', wholeTurn('t3')],
};

/**
 * Expects the turns of all threads after a repair, and that all of them can be continued and
 * forked.
 */
async function expectForks(home: TempHome, changes: Record<number, string[]>): Promise<void> {
  const store = home.open();
  for (const [number, turns] of Object.entries({ ...FORKS, ...changes })) {
    expect(await turnsInShort(store, idOf(Number(number))), `thread ${number}`).toEqual(turns);
    await (await store.openWriter(idOf(Number(number)))).append(turnEntries('new'));
    await store.forkThread(idOf(Number(number)), null, threadRecord(100 + Number(number)));
    expect(await turnsInShort(store, idOf(100 + Number(number)))).toEqual([
      ...turns,
      wholeTurn('new'),
    ]);
  }
  await store.close();
  expect(home.sql((db) => checkDatabase(db, home.file))).toEqual([]);
}

describe('after a repair, of histories that share their segments', () => {
  const firstId = 'SELECT id FROM shared_segment WHERE log_id = 1 ORDER BY id LIMIT 1';

  test.each([
    ['of this version', () => {}],
    ['of the first version', asFirstVersion],
  ])('a damaged index loses nothing of a database %s', async (_name, convert) => {
    const home = await homeWithForks();
    convert(home);
    damagePage(home, 'thread_by_creation');
    await expectForks(home, {});
    expect(home.repairs).toEqual([
      expect.stringMatching(/: 6 threads could be read\. No data was lost\./),
    ]);
  });

  test.each([
    ['is lost', `DELETE FROM shared_segment WHERE id = (${firstId})`],
    ['follows itself', `UPDATE shared_segment SET before_id = id WHERE id = (${firstId})`],
  ])(
    'those that need a segment that %s have what comes after it, and the others have everything',
    async (_name, sql) => {
      const home = await homeWithForks();
      home.sql((db) => db.exec(sql));
      expect(home.sql((db) => checkDatabase(db, home.file))).toEqual([
        '3 threads have lost a part of their lists of logs',
      ]);
      const store = home.open();
      await expect(turnsInShort(store, idOf(3))).rejects.toMatchObject({ code: 'store_damaged' });
      await store.close();
      damagePage(home, 'thread_by_creation');
      const changes = {
        2: [wholeTurn('t2')],
        3: [wholeTurn('t2'), wholeTurn('t3')],
        4: [wholeTurn('t2'), wholeTurn('t3')],
      };
      await expectForks(home, sql.startsWith('UPDATE') ? {} : changes);
      expect(home.repairs).toEqual([
        expect.stringMatching(/: 6 threads could be read\. Lost: 3 records of 3 threads\./),
      ]);
    },
  );

  test('without any shared segment, each has its own records', async () => {
    const home = await homeWithForks();
    damagePage(home, 'shared_segment');
    await expectForks(home, {
      2: [wholeTurn('t2')],
      3: [wholeTurn('t3')],
      4: [wholeTurn('t3')],
      6: [wholeTurn('t3')],
    });
    expect(home.repairs).toEqual([
      expect.stringMatching(/: 6 threads could be read\. Lost: 4 records of 4 threads\./),
    ]);
  });

  test('a lost record counts for all histories that have it, and for no other', async () => {
    const home = await homeWithForks();
    home.sql((db) => db.exec('DELETE FROM entry WHERE log_id = 2 AND ordinal = 3'));
    expect(home.sql((db) => checkDatabase(db, home.file))).toEqual(['log 2 lacks 1 records']);
    damagePage(home, 'thread_by_creation');
    expect((await home.open().listThreads(everyThread)).data).toHaveLength(6);
    expect(home.repairs).toEqual([
      expect.stringMatching(/: 6 threads could be read\. Lost: 3 records of 3 threads\./),
    ]);
  });
});

test('however a database is damaged: no crash, no endless loop, what is lost is told, and new threads work', async () => {
  const whole = await sample();
  const everything = THREADS * 5 + 3 * 2;
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const home = tempHome();
      mkdirSync(home.home);
      writeFileSync(home.file, damaged(whole, damages));
      // The first reading finds the damage, and the second one what was made of it.
      await readAll(home);
      const { turns, refused } = await readAll(home);
      kept += turns;
      const told = home.repairs.join();
      if (turns < everything && refused === 0)
        expect(told).toMatch(/Lost: |Nothing of it could be read/);
      const store = home.open();
      await threadWithTurns(store, 500, ['t1']);
      expect(await turnsInShort(store, idOf(500))).toEqual([wholeTurn('t1')]);
      for (const { id } of (await store.listThreads(everyThread)).data) {
        const writer = id === idOf(500) || refused > 0 ? null : await store.openWriter(id);
        await writer?.append([turnStarted('new'), turnEnded('new')]);
      }
      await store.close();
      expect(readdirSync(home.home).filter((name) => name.endsWith('.new'))).toEqual([]);
      await home.dispose();
    }),
    { seed: 11, numRuns: RUNS },
  );
  // Most damages hit a small part, so most is still there.
  expect(kept / (RUNS * everything)).toBeGreaterThan(0.4);
}, 120_000);

test('a damaged first page loses nothing', async () => {
  const whole = await sample();
  for (const bytes of [
    Buffer.alloc(PAGE_BYTES),
    Buffer.alloc(PAGE_BYTES, 0xa5),
    Buffer.alloc(100),
  ]) {
    const home = tempHome();
    mkdirSync(home.home);
    writeFileSync(home.file, Buffer.concat([bytes, whole.subarray(bytes.length)]));
    expect(await readAll(home)).toEqual({
      threads: THREADS + 3,
      turns: THREADS * 5 + 3 * 2,
      refused: 0,
    });
    expect(home.repairs).toEqual([
      expect.stringContaining('15 threads could be read. No data was lost.'),
    ]);
  }
});

test('a thread that lost records in its middle can be read, continued and forked after the repair', async () => {
  const home = tempHome();
  mkdirSync(home.home);
  writeFileSync(home.file, await sample());
  home.sql((db) =>
    db.exec(
      'PRAGMA foreign_keys = OFF; DELETE FROM entry WHERE log_id = 1 AND ordinal IN (7, 8, 9)',
    ),
  );
  damagePage(home, 'thread_by_creation');
  const store = home.open();
  expect((await store.listThreads(everyThread)).data).toHaveLength(THREADS + 3);
  expect(await turnsInShort(store, idOf(1))).toEqual([
    't1 interrupted: t1 question, t1 command, t1 answer',
    't2 completed: t2 command, t2 answer',
    wholeTurn('t3'),
    't4 completed: long',
    't5 interrupted: half',
  ]);
  expect(home.repairs).toEqual([
    expect.stringMatching(/: 15 threads could be read\. Lost: 3 records of 1 thread\./),
  ]);
  const writer = await store.openWriter(idOf(1));
  await writer.append([turnStarted('t6'), turnEnded('t6')]);
  await store.forkThread(idOf(1), { afterTurnId: 't3' }, threadRecord(300));
  expect(await turnsInShort(store, idOf(300))).toHaveLength(3);
});
