import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  threadWithTurns,
  turnEnded,
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

/** A closed database of threads that have turns, long texts, forks and an unfinished item, without a WAL. */
async function sample(): Promise<Buffer> {
  const home = tempHome();
  const store = home.open();
  for (let number = 1; number <= THREADS; number++) {
    const writer = await threadWithTurns(store, number, ['t1', 't2', 't3']);
    await writer.append([turnStarted('t4'), itemEntry('t4', agentMessage('long', `${number} `.repeat(5_000))), turnEnded('t4')]);
    await writer.append([turnStarted('t5')]);
    await writer.savePartial(storedItem('t5', agentMessage('half', 'x'.repeat(3_000))));
    if (number % 4 === 0) await store.forkThread(idOf(number), { afterTurnId: 't2' }, threadRecord(100 + number));
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
    else for (let index = start; index < end(start, length); index += 7) bytes[index] = (index * 31) % 256;
  }
  return bytes;
}

/** Uses all threads until nothing new is wrong. Returns how many threads and turns can be read. */
async function read(home: TempHome): Promise<{ threads: number; turns: number; refused: number }> {
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
      await read(home);
      const { turns, refused } = await read(home);
      kept += turns;
      const told = home.repairs.join();
      if (turns < everything && refused === 0) expect(told).toMatch(/Lost: |Nothing of it could be read/);
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
  for (const bytes of [Buffer.alloc(PAGE_BYTES), Buffer.alloc(PAGE_BYTES, 0xa5), Buffer.alloc(100)]) {
    const home = tempHome();
    mkdirSync(home.home);
    writeFileSync(home.file, Buffer.concat([bytes, whole.subarray(bytes.length)]));
    expect(await read(home)).toEqual({ threads: THREADS + 3, turns: THREADS * 5 + 3 * 2, refused: 0 });
    expect(home.repairs).toEqual([expect.stringContaining('15 threads could be read. No data was lost.')]);
  }
});

test('a thread that lost records in its middle can be read, continued and forked after the repair', async () => {
  const home = tempHome();
  mkdirSync(home.home);
  writeFileSync(home.file, await sample());
  home.sql((db) => db.exec('PRAGMA foreign_keys = OFF; DELETE FROM entry WHERE log_id = 1 AND ordinal IN (7, 8, 9)'));
  const root = home.sql((db) => Number(db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'thread_by_creation'").pluck().get()));
  writeFileSync(home.file, readFileSync(home.file).fill(0xa5, (root - 1) * PAGE_BYTES, root * PAGE_BYTES));
  const store = home.open();
  expect((await store.listThreads(everyThread)).data).toHaveLength(THREADS + 3);
  expect(await turnsInShort(store, idOf(1))).toEqual([
    't1 interrupted: t1 question, t1 command, t1 answer',
    't2 completed: t2 command, t2 answer',
    wholeTurn('t3'),
    't4 completed: long',
    't5 interrupted: half',
  ]);
  expect(home.repairs).toEqual([expect.stringMatching(/: 15 threads could be read\. Lost: 3 records of 1 thread\./)]);
  const writer = await store.openWriter(idOf(1));
  await writer.append([turnStarted('t6'), turnEnded('t6')]);
  await store.forkThread(idOf(1), { afterTurnId: 't3' }, threadRecord(300));
  expect(await turnsInShort(store, idOf(300))).toHaveLength(3);
});
