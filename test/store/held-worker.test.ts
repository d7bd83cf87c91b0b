// @module-tag slow
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/store/log-entry.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { builtScript } from '../support/built-script.ts';
import { gaugedScript } from '../support/gauged-script.ts';
import { memorySlowness } from '../support/memory-slowness.ts';
import { asked } from '../support/test-model.ts';
import {
  agentMessage,
  everyThread,
  idOf,
  itemEntry,
  itemsOf,
  modelItems,
  storedItem,
  threadRecord,
  turnEnded,
  turnEntries,
  turnStarted,
} from './samples.ts';
import { workerHome } from './worker-home.ts';

const SCRIPT = 'src/store/sqlite/worker/store.worker.ts';
/**
 * What no call should exceed is 20 ms; the rest is the collection of garbage and a machine that is
 * slower at the moment.
 */
const HELD_MS_MAX = 40;
const MB = Number(process.env.HEDDLE_LONG_TEXT_MB ?? 8);
const LONG = 'abcdefg '.repeat((MB * 1e6) / 8);
const WIDE = 'äbcdéfg€'.repeat((MB * 1e6) / 8);
const SMALL = 'word '.repeat(100);

/** What is done with the store, one after another. None of it may hold its thread. */
const STEPS: [name: string, step: (store: ThreadStore) => Promise<unknown>][] = [
  [
    'a long text: unfinished, complete, for the model, read and copied',
    async (store) => {
      const writer = await store.createThread(threadRecord(1));
      await writer.append([turnStarted('t')]);
      for (const end of [0.5, 0.75, 1]) {
        const shown = LONG.slice(0, LONG.length * end);
        await writer.append([], { partials: [storedItem('t', agentMessage('a', shown))] });
      }
      await store.listItems(idOf(1), { direction: 'desc', limit: 1 });
      await writer.append([
        itemEntry('t', agentMessage('a', LONG)),
        { kind: 'model', turnId: 't', item: asked(WIDE) },
      ]);
      await writer.append([turnEnded('t')], { durable: true });
      await itemsOf(store, idOf(1));
      await modelItems(store, idOf(1));
      await store.forkThread(idOf(1), null, threadRecord(2));
      await writer.close();
    },
  ],
  [
    'a long history: imported, read, measured, copied, reverted and deleted',
    async (store) => {
      const turns = Array.from({ length: 2_500 }, (_, number): LogEntry[] => [
        turnStarted(`t${number}`),
        ...Array.from({ length: 6 }, (_unused, index) =>
          itemEntry(`t${number}`, agentMessage(`${number}-${index}`, SMALL)),
        ),
        turnEnded(`t${number}`),
      ]);
      const writer = await store.createThread(threadRecord(3), turns.flat());
      await itemsOf(store, idOf(3));
      await store.listTurns(idOf(3), { direction: 'desc', limit: 1_000, view: 'summary' });
      await store.measureItems(idOf(3), {});
      await modelItems(store, idOf(3));
      await store.forkThread(idOf(3), { afterTurnId: 't1000' }, threadRecord(4));
      await store.forkThread(
        idOf(3),
        { afterTurnId: 't1000' },
        threadRecord(5, { ephemeral: true, path: null }),
      );
      await store.revertThread(idOf(3), 't2000', { updatedAtMs: 9 });
      await writer.close();
      await (await store.openWriter(idOf(3))).close();
      await store.deleteThread(idOf(3));
    },
  ],
  [
    'many threads: listed, searched and archived',
    async (store) => {
      for (let number = 100; number < 1_600; number++) {
        const record = threadRecord(number, { preview: `common word ${number}` });
        await (await store.createThread(record, turnEntries(`t${number}`))).close();
      }
      for (const searchTerm of [null, 'common', 'word 9', 'zz', 'o'])
        await store.listThreads({ ...everyThread, limit: 100, searchTerm });
      await store.listThreads({ ...everyThread, limit: 100, cwds: ['/nowhere'] });
      for (let number = 100; number < 1_600; number += 100) {
        const ids = Array.from({ length: 100 }, (_, index) => idOf(number + index));
        await store.archiveThreads(ids, 5);
      }
    },
  ],
];

test.runIf(process.platform === 'linux').each(STEPS)(
  'the thread of the store is not held by %s',
  { timeout: 120_000 },
  async (_name, step) => {
    const home = workerHome();
    const script = join(home.folder, 'gauged.cjs');
    const gauge = gaugedScript(script, builtScript(SCRIPT), { longMs: HELD_MS_MAX });
    const store = home.open(undefined, { script });
    // Opening the database and compiling code take longer once.
    await (await store.createThread(threadRecord(99), turnEntries('t'))).close();
    const slownessBefore = memorySlowness();
    const before = gauge.longRounds().length;
    await step(store);
    await store.close();
    const slowness = Math.max(slownessBefore, memorySlowness());
    expect(
      gauge
        .longRounds()
        .slice(before)
        .filter(({ ms }) => ms > HELD_MS_MAX * slowness),
    ).toEqual([]);
  },
);
