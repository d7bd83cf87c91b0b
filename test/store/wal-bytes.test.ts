import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  agentMessage,
  command,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  turnEnded,
  turnEntries,
  turnStarted,
} from './samples.ts';
import { type TempHome, tempHome } from './temp-home.ts';

/** The bytes that `work` writes to the WAL. */
async function walBytes(home: TempHome, work: () => Promise<void>): Promise<number> {
  const before = frames(home);
  await work();
  const after = frames(home);
  return (after.count - before.count) * after.bytes;
}

/**
 * The frames of the WAL that count. A WAL that began anew has those of an earlier one behind them.
 */
function frames(home: TempHome): { count: number; bytes: number } {
  const wal = readFileSync(`${home.file}-wal`);
  const bytes = wal.readUInt32BE(8) + 24;
  let count = 0;
  while (
    32 + (count + 1) * bytes <= wal.length &&
    wal.subarray(16, 24).equals(wal.subarray(40 + count * bytes, 48 + count * bytes))
  )
    count++;
  return { count, bytes };
}

test('a small turn writes at most 20 KB in two commits', async () => {
  const home = tempHome();
  const store = home.open();
  const writer = await store.createThread(threadRecord(1));
  for (let number = 0; number < 10; number++) await writer.append(turnEntries(`before ${number}`));
  const turns = 20;
  const bytes = await walBytes(home, async () => {
    for (let number = 0; number < turns; number++) {
      const turnId = `turn ${number}`;
      const item = agentMessage(`answer ${number}`, 'a short answer');
      const patch = {
        updatedAtMs: number,
        recencyAtMs: number,
        settings: threadRecord(1).settings,
      };
      await writer.append(turnEntries(turnId).slice(0, 3), { patch });
      await writer.append([itemEntry(turnId, item), turnEnded(turnId)], {
        patch: { updatedAtMs: number },
      });
    }
  });
  expect(Math.round(bytes / turns)).toBeLessThan(20_000);
});

test('each save of a long output writes little more than what was added, and the last one is what a kill leaves', async () => {
  const home = tempHome();
  const store = home.open();
  const writer = await store.createThread(threadRecord(1), [turnStarted('t1')]);
  const head = Array.from(
    { length: 1500 },
    (_line, index) => `line ${index} of the head of a long output\n`,
  ).join('');
  const tail = (from: number) =>
    Array.from({ length: 1500 }, (_line, index) => `line ${from + index} of its tail\n`).join('');
  const outputAt = (save: number) => ({
    ...command('c', 'inProgress'),
    aggregatedOutput: `${head}[${save * 200} left out]\n${tail(5000 + save * 5)}`,
  });
  await writer.append([], { partials: [storedItem('t1', outputAt(0))] });
  const saves = 200;
  const bytes = await walBytes(home, async () => {
    for (let save = 1; save <= saves; save++)
      await writer.append([], { partials: [storedItem('t1', outputAt(save))] });
  });
  expect(Math.round(bytes / saves)).toBeLessThan(8_000);
  const items = (await home.open().listItems(idOf(1), { direction: 'asc' })).data;
  expect(items.map(({ item }) => item)).toEqual([outputAt(saves)]);
  await writer.append([itemEntry('t1', outputAt(saves)), turnEnded('t1')]);
  expect([home.count('partial'), home.count('partial_change')]).toEqual([0, 0]);
});

test('a save that was rolled back does not spoil the next one', async () => {
  const home = tempHome();
  let db: { exec(sql: string): void } | null = null;
  const { default: Database } = await import('better-sqlite3');
  const store = home.open((file, options) => {
    const connection = new Database(file, options);
    if (file === home.file) db = connection;
    return connection;
  });
  const writer = await store.createThread(threadRecord(1), [turnStarted('t1')]);
  const textAt = (save: number, fill = 'x') =>
    storedItem('t1', agentMessage('a', fill.repeat(2000 + save * 30)));
  await writer.append([], { partials: [textAt(0)] });
  for (const [save, fill] of [
    [1, 'x'],
    [2, 'y'],
    [3, 'y'],
  ] as const) {
    (db as { exec(sql: string): void } | null)?.exec(
      `CREATE TEMP TRIGGER a BEFORE INSERT ON main.partial_change BEGIN SELECT RAISE(ABORT, 'no'); END;
       CREATE TEMP TRIGGER b AFTER UPDATE ON main.partial BEGIN SELECT RAISE(ABORT, 'no'); END;`,
    );
    await expect(writer.append([], { partials: [textAt(save, fill)] })).rejects.toThrow();
    (db as { exec(sql: string): void } | null)?.exec('DROP TRIGGER a; DROP TRIGGER b');
    await writer.append([], { partials: [textAt(save + 10, fill)] });
    const items = (await store.listItems(idOf(1), { direction: 'asc' })).data;
    expect(items.map(({ item }) => item)).toEqual([textAt(save + 10, fill).item]);
  }
});
