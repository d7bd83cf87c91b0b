import { fillThread, openStore } from '../store/fill-thread.ts';
import { idOf, settings, threadRecord, turnEntries } from '../store/samples.ts';

const WORDS =
  'please look at the next file and say whether anything in it wants attention rename parser stream reader config error test'.split(
    ' ',
  );

/** A word in the preview of one in a hundred threads. */
export const RARE_WORD = 'quixotic';
/** A word in the preview of most threads. */
export const COMMON_WORD = 'parser';

/** Stores threads of one turn each, as a server would, in a home that has no threads. */
export async function fillThreads(home: string, count: number): Promise<void> {
  const store = openStore(home);
  for (let number = 1; number <= count; number++) {
    const record = threadRecord(number, {
      preview: previewOf(number),
      settings: { ...settings, modelProvider: 'bench', cwd: home },
    });
    await fillThread(store, record, [turnEntries(`${idOf(number)} turn`)]);
  }
  await store.close();
}

function previewOf(number: number): string {
  // The step through the words differs between threads, so that previews begin differently.
  const words = Array.from(
    { length: 20 },
    (_, index) => WORDS[(number * (index + 1) + (number >> 3) * index) % WORDS.length],
  );
  return [...words, ...(number % 100 === 50 ? [RARE_WORD] : []), number].join(' ');
}
