// @module-tag slow
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { PIECE_CHARS } from '../../src/store/sqlite/history/long-texts.ts';
import { builtScript } from '../support/built-script.ts';
import { mortalScript } from '../support/mortal-script.ts';
import { RecordingLog } from '../support/recording-log.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  itemsOf,
  threadRecord,
  turnEnded,
  turnStarted,
} from './samples.ts';
import { workerHome } from './worker-home.ts';

const SCRIPT = 'src/store/sqlite/worker/store.worker.ts';
const TURNS = 200;
const LONG = `${'x'.repeat(PIECE_CHARS)}${'y'.repeat(PIECE_CHARS)}`;

/** A history of 1,001 entries, one of which has a long text. */
function longHistory(): LogEntry[] {
  const turns = Array.from({ length: TURNS }, (_, number) => [
    turnStarted(`t${number}`),
    ...[1, 2, 3].map((index) => itemEntry(`t${number}`, agentMessage(`${number}-${index}`))),
    turnEnded(`t${number}`),
  ]);
  return [...turns.flat(), itemEntry(`t${TURNS - 1}`, agentMessage('long', LONG))];
}

const allItems = longHistory().flatMap((entry) => (entry.kind === 'item' ? [entry.item] : []));

test.each([1, 2, 3, 4])(
  'the thread of the store ends while a long history is stored, seed %i: it is stored once, as a whole',
  async (seed) => {
    const home = workerHome();
    const log = new RecordingLog();
    const script = join(home.folder, 'mortal.cjs');
    const { ended } = mortalScript(script, builtScript(SCRIPT), {
      seed,
      count: 3,
      messagesMax: 24,
    });
    const store = home.open(undefined, { script, log });
    const stored: number[] = [];
    const writer = await store.createThread(threadRecord(1), longHistory(), (count) =>
      stored.push(count),
    );
    await writer.append([
      turnStarted('after'),
      itemEntry('after', agentMessage('after')),
      turnEnded('after'),
    ]);
    expect((await itemsOf(store, idOf(1))).map(({ item }) => item)).toEqual([
      ...allItems,
      agentMessage('after'),
    ]);
    expect(stored.at(-1)).toBe(longHistory().length);
    expect((await store.listThreads(everyThread)).data).toHaveLength(1);
    await writer.close();
    await store.close();
    expect(ended()).toBeGreaterThan(0);
    expect(home.count('held_log')).toBe(0);
  },
);

test('nobody sees a long history before it is whole, and nothing is left of one that fails', async () => {
  const home = workerHome();
  const store = home.open();
  const other = home.sqliteStore();
  const seen: unknown[] = [];
  const lookUp = async () =>
    seen.push([await other.getThread(idOf(1)), (await other.listThreads(everyThread)).data]);
  const looks: Promise<unknown>[] = [];
  const failed = store.createThread(threadRecord(1), longHistory(), (count) => {
    looks.push(lookUp());
    if (count > 600) throw new Error('given up');
  });
  await expect(failed).rejects.toThrow('given up');
  await Promise.all(looks);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(looks.map(() => [null, []]));
  expect(home.count('held_log')).toBe(0);
  await expect
    .poll(() => [home.count('log'), home.count('entry'), home.count('blob')], { timeout: 20_000 })
    .toEqual([0, 0, 0]);
  await store.createThread(threadRecord(1), longHistory());
  expect(await itemsOf(other, idOf(1))).toHaveLength(allItems.length);
});

test('two processes store the same thread with a long history at once: one is refused, and nothing is left of its history', async () => {
  const home = workerHome();
  const stores = [home.open(), home.open()];
  const outcomes = await Promise.allSettled(
    stores.map((store) => store.createThread(threadRecord(1), longHistory())),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect
    .poll(() => [home.count('log'), home.count('entry')], { timeout: 20_000 })
    .toEqual([1, longHistory().length]);
});
