import { expect, test } from 'vitest';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { PIECE_CHARS } from '../../src/store/sqlite/history/long-texts.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { Random } from '../process/hostile/random.ts';
import { asked } from '../support/test-model.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  itemsOf,
  modelItems,
  storedItem,
  threadRecord,
  turnEnded,
  turnStarted,
} from './samples.ts';
import { workerHome } from './worker-home.ts';

const SEEDS = 6;
/**
 * What a piece can begin, end or be made of: also halves of surrogate pairs, and what a stored text
 * is marked with.
 */
const PARTS = [
  'word ',
  'ä€😀',
  '\ud83d',
  '\ude00',
  '"\\\n\u0000',
  '\u0000blob:',
  `\u0000blob:${'a'.repeat(64)}`,
  '\u0000rest',
];

function longText(random: Random): string {
  const chars = random.pick([
    0,
    1,
    PIECE_CHARS - 1,
    PIECE_CHARS,
    PIECE_CHARS + 1,
    2 * PIECE_CHARS,
    3 * PIECE_CHARS + random.below(1_000),
  ]);
  const part = random.pick(PARTS);
  return (
    random.pick(PARTS) +
    part.repeat(Math.ceil(chars / part.length)).slice(0, chars) +
    random.pick(PARTS)
  );
}

function messageTexts(items: readonly UntimedItem[]): string[] {
  return items.map((item) => (item.type === 'agentMessage' ? item.text : ''));
}

async function textsOf(store: ThreadStore, number: number): Promise<string[]> {
  return messageTexts((await itemsOf(store, idOf(number))).map(({ item }) => item));
}

test('long texts are read as they were written: items, unfinished ones, what the model reads, forks and imports, in any process', {
  tags: 'slow',
}, async () => {
  const home = workerHome();
  const store = home.open();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const texts = Array.from({ length: 3 }, () => longText(random));
    const ephemeral = random.chance(0.3);
    const writer = await store.createThread(threadRecord(seed, { ephemeral, path: null }));
    const entries = texts.flatMap((text, index): LogEntry[] => [
      itemEntry('t', agentMessage(`${index}`, text)),
      { kind: 'model', turnId: 't', item: asked(text) },
    ]);
    const growing = longText(random);
    await writer.append([turnStarted('t')]);
    for (const end of [0.3, 0.6, 1]) {
      const shown = growing.slice(0, Math.ceil(growing.length * end));
      await writer.append([], { partials: [storedItem('t', agentMessage('growing', shown))] });
      expect(await textsOf(store, seed)).toEqual([shown]);
    }
    const [first, ...others] = [...entries, itemEntry('t', agentMessage('growing', growing))];
    await writer.append(first === undefined ? [] : [first]);
    await writer.append([...others, turnEnded('t')]);
    const all = [...texts, growing];
    const stores = ephemeral ? [store] : [store, home.open(), home.sqliteStore()];
    for (const each of stores) {
      expect(await textsOf(each, seed)).toEqual(all);
      expect(await modelItems(each, idOf(seed))).toEqual(texts.map(asked));
    }
    for (const [copy, isEphemeral] of [
      [100 + seed, false],
      [200 + seed, true],
    ] as const) {
      const fork = await store.forkThread(
        idOf(seed),
        null,
        threadRecord(copy, { ephemeral: isEphemeral, path: null }),
      );
      expect(await textsOf(store, copy)).toEqual(all);
      await fork.close();
    }
    await writer.close();
    await store.deleteThread(idOf(seed));
    expect(await textsOf(store, 200 + seed)).toEqual(all);
    const imported = [turnStarted('t'), ...entries, turnEnded('t')];
    await (await store.createThread(threadRecord(300 + seed, { path: null }), imported)).close();
    expect(await textsOf(home.sqliteStore(), 300 + seed)).toEqual(texts);
  }
});

test('an unfinished item with a long text is recovered after its writer has died', async () => {
  const home = workerHome();
  const text = `${'x'.repeat(PIECE_CHARS)}${'y'.repeat(PIECE_CHARS)}z`;
  const dead = home.open();
  const writer = await dead.createThread(threadRecord(1));
  await writer.append([turnStarted('t')]);
  await writer.append([], { partials: [storedItem('t', agentMessage('growing', text))] });
  home.sql((db) => db.exec("UPDATE lease SET owner = 'dead'"));
  const store = home.open();
  expect(await textsOf(store, 1)).toEqual([text]);
  await store.openWriter(idOf(1));
  expect(await textsOf(store, 1)).toEqual([text]);
  expect(await textsOf(home.sqliteStore(), 1)).toEqual([text]);
});

test('a growing text is stored once: its pieces are not stored again when it is saved again or complete', async () => {
  const home = workerHome();
  const store = home.open();
  const writer = await store.createThread(threadRecord(1));
  await writer.append([turnStarted('t')]);
  const pieces = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(PIECE_CHARS));
  for (let count = 1; count <= pieces.length; count++) {
    await writer.append([], {
      partials: [storedItem('t', agentMessage('a', `${pieces.slice(0, count).join('')}end`))],
    });
  }
  const text = `${pieces.join('')}end`;
  await writer.append([
    itemEntry('t', agentMessage('a', text)),
    { kind: 'model', turnId: 't', item: asked(text) },
    turnEnded('t'),
  ]);
  expect(home.count('blob')).toBe(pieces.length + 1);
});
