import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { idOf, settings, threadRecord, turnEntries } from '../store/samples.ts';

const WORDS =
  'please look at the next file and say whether anything in it wants attention rename parser stream reader config error test'.split(' ');

/** A word in the preview of one in a hundred threads. */
export const RARE_WORD = 'quixotic';
/** A word in the preview of most threads. */
export const COMMON_WORD = 'parser';

/** Opens the store of a home. Close it before a server uses the home. */
export function openStore(home: string): ThreadStore {
  const ignore = () => {};
  return createSqliteStore({
    file: join(home, 'heddle.db'),
    migrationsDir: join(dirname(dirname(import.meta.dirname)), 'migrations'),
    tempDir: home,
    clock: systemClock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    pid: process.pid,
  });
}

/** Stores threads of one turn each, as a server would, in a home that has no threads. */
export async function fillThreads(home: string, count: number): Promise<void> {
  const store = openStore(home);
  for (let number = 1; number <= count; number++) {
    const record = threadRecord(number, { preview: previewOf(number), settings: { ...settings, modelProvider: 'bench', cwd: home } });
    const writer = await store.createThread(record, turnEntries(`${idOf(number)} turn`));
    await writer.close();
  }
  await store.close();
}

function previewOf(number: number): string {
  // The step through the words differs between threads, so that previews begin differently.
  const words = Array.from({ length: 20 }, (_, index) => WORDS[(number * (index + 1) + (number >> 3) * index) % WORDS.length]);
  return [...words, ...(number % 100 === 50 ? [RARE_WORD] : []), number].join(' ');
}
