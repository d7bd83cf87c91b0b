import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foldCase } from '../../src/store/fold-case.ts';
import type { ThreadQuery } from '../../src/store/page-query.ts';
import type { ThreadRecord } from '../../src/store/thread-record.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { everyThread, idOf, threadRecord } from './samples.ts';
import type { StoreHarness } from './thread-store.contract.ts';

/** The contract of every thread store for pages of threads and for searches. */
export function describeThreadLists(name: string, makeHarness: () => Promise<StoreHarness>): void {
  describe(name, () => {
    let harness: StoreHarness;
    let store: ThreadStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.open();
    });
    afterEach(() => harness.dispose());

    test('pages of any size, from any position and in both directions, give each thread once and in order', async () => {
      const threads = Array.from({ length: 24 }, (_, index) => {
        const place = (index * 7) % 24;
        const times = { createdAtMs: place >> 1, updatedAtMs: place >> 3, recencyAtMs: place };
        return threadRecord(index + 1, { ...times, preview: index % 3 === 0 ? 'needle' : 'hay' });
      });
      for (const thread of threads) await store.createThread(thread);
      const sortKey = fc.constantFrom(
        'createdAt' as const,
        'updatedAt' as const,
        'recencyAt' as const,
      );
      const searchTerm = fc.constantFrom(null, 'needle');
      const steps = fc.array(
        fc.record({ limit: fc.integer({ min: 1, max: 30 }), turns: fc.boolean() }),
        { minLength: 1, maxLength: 12 },
      );
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            sortKey,
            searchTerm,
            direction: fc.constantFrom('asc' as const, 'desc' as const),
          }),
          steps,
          (query, path) => {
            const first = { ...everyThread, ...query };
            return expectPath(store, inOrder(threads, first), { first, path });
          },
        ),
      );
    });

    test('a thread that moves in the list or leaves it between two pages hides no other', async () => {
      for (let number = 1; number <= 6; number++) await store.createThread(threadRecord(number));
      const query = { ...everyThread, sortKey: 'updatedAt' as const, limit: 2 };
      const first = await store.listThreads(query);
      await store.updateThread(idOf(5), { archivedAtMs: 1 });
      await store.updateThread(idOf(3), { updatedAtMs: 9 });
      const second = await store.listThreads({ ...query, cursor: first.nextCursor });
      expect([first, second].map(({ data }) => data.map(({ updatedAtMs }) => updatedAtMs))).toEqual(
        [
          [6, 5],
          [4, 2],
        ],
      );
      const { data } = await store.listThreads({
        ...query,
        direction: 'asc',
        cursor: first.backwardsCursor,
      });
      expect(data.map(({ updatedAtMs }) => updatedAtMs)).toEqual([6, 9]);
    });

    describe('a search', () => {
      test('finds a part of the name or the preview, in any case, and treats no character as a pattern', async () => {
        await store.createThread(threadRecord(1, { name: 'Ärger mit 100%', preview: 'x' }));
        await store.createThread(threadRecord(2, { preview: 'fix the BUG_list' }));
        await store.createThread(
          threadRecord(3, { name: 'say "hi" AND (go) NEAR it*', preview: 'col:umn - ^x' }),
        );
        expect(await found('ärger')).toEqual([1]);
        expect(await found('Bug_')).toEqual([2]);
        expect(await found('0%')).toEqual([1]);
        expect(await found('%')).toEqual([1]);
        expect(await found('e%r')).toEqual([]);
        expect(await found('bug%')).toEqual([]);
        expect(await found('')).toEqual([3, 2, 1]);
        for (const term of ['"', '"hi"', ' AND ', 'and (', 'near it*', '*', 'col:umn', '- ^', '^x'])
          expect(await found(term)).toEqual([3]);
        for (const term of ['fix* ', 'fix OR say', 'name:ärger', '""', "'", '\\', '-x'])
          expect(await found(term)).toEqual([]);
      });

      test('finds short terms at both ends, long ones as a whole, and none that are too long', async () => {
        await store.createThread(threadRecord(1, { name: 'q', preview: 'yz' }));
        await store.createThread(threadRecord(2, { preview: `${'long '.repeat(90)}tail` }));
        expect(await found('Q')).toEqual([1]);
        expect(await found('z')).toEqual([1]);
        expect(await found('yz')).toEqual([1]);
        expect(await found('yz ')).toEqual([]);
        expect(await found('qy')).toEqual([]);
        expect(await found(`${'long '.repeat(90)}tail`)).toEqual([2]);
        expect(await found(`${'long '.repeat(90)}tale`)).toEqual([]);
        expect(await found(`${'long '.repeat(89)}tail`)).toEqual([2]);
        expect(await found(`long ${'long '.repeat(90)}tail`)).toEqual([]);
        expect(await found('x'.repeat(100_000))).toEqual([]);
      });

      test('can be for NUL, lone surrogates and characters beyond the basic plane', async () => {
        await store.createThread(threadRecord(1, { name: 'a\0bcd', preview: '' }));
        await store.createThread(threadRecord(2, { name: 'x\ud800y', preview: '' }));
        await store.createThread(threadRecord(3, { name: '🦆🦢🐧', preview: '𐐀𐐁𐐂' }));
        expect(await found('bcd')).toEqual([1]);
        expect(await found('a\0b')).toEqual([1]);
        expect(await found('x\udc00y')).toEqual([2]);
        expect(await found('🦢')).toEqual([3]);
        expect(await found('🦢🐧')).toEqual([3]);
        expect(await found('🦆🦢🐧')).toEqual([3]);
        expect(await found('𐐨𐐩𐐪')).toEqual([3]);
        expect(await found('\u{10ffff}')).toEqual([]);
      });

      test('finds a thread by its new name and preview after every change', async () => {
        const writer = await store.createThread(threadRecord(1, { preview: '' }));
        expect(await found('first')).toEqual([]);
        await writer.append([], { patch: { preview: 'first words' } });
        await store.updateThread(idOf(1), { name: 'one name' });
        expect([await found('first'), await found('one name')]).toEqual([[1], [1]]);
        await store.updateThread(idOf(1), { name: 'another' });
        expect([await found('one name'), await found('another'), await found('first')]).toEqual([
          [],
          [1],
          [1],
        ]);
        await store.updateThread(idOf(1), { name: null, updatedAtMs: 7 });
        expect([await found('another'), await found('null'), await found('first')]).toEqual([
          [],
          [],
          [1],
        ]);
        await store.forkThread(idOf(1), null, threadRecord(2, { preview: 'first words' }));
        expect(await found('first')).toEqual([2, 1]);
      });

      test('finds any part of any text, and nothing else', async () => {
        const text = fc.string({
          unit: fc.constantFrom(
            'a',
            'A',
            'b',
            'ß',
            'Σ',
            'ς',
            '"',
            '%',
            '_',
            ' ',
            '\0',
            '🦆',
            'É',
            'é',
          ),
          maxLength: 8,
        });
        const texts = fc.sample(text, { numRuns: 120, seed: 7 });
        for (const [index, preview] of texts.entries())
          await store.createThread(
            threadRecord(index + 1, { preview, name: texts.at(-index) ?? null }),
          );
        await fc.assert(
          fc.asyncProperty(text, async (searchTerm) => {
            const holds = (part: string | null | undefined) =>
              foldCase(part ?? '').includes(foldCase(searchTerm));
            const numbers = texts.flatMap((preview, index) =>
              holds(preview) || holds(texts.at(-index)) ? [index + 1] : [],
            );
            expect(await found(searchTerm)).toEqual(numbers.toReversed());
          }),
          { numRuns: 300 },
        );
      });

      test('with many hits has several pages, within the other filters', async () => {
        for (let number = 1; number <= 700; number++) {
          const preview = number % 4 === 0 ? 'something else' : `a common word ${number}`;
          await store.createThread(threadRecord(number, { preview, createdAtMs: number >> 3 }));
        }
        const query = { ...everyThread, searchTerm: 'COMMON', excludedIds: [idOf(1)] };
        const { data } = await store.listThreads(query);
        expect(data).toHaveLength(524);
        expect(await pagesOf({ ...query, limit: 100 })).toEqual(data);
        expect(await found('common word 7')).toHaveLength(9);
        expect((await found('co')).slice(0, 4)).toEqual([699, 698, 697, 695]);
      });

      async function found(searchTerm: string): Promise<number[]> {
        const { data } = await store.listThreads({ ...everyThread, searchTerm });
        return data.map(({ id }) => Number(id.slice(-12)));
      }
    });

    async function pagesOf(query: ThreadQuery): Promise<ThreadRecord[]> {
      const page = await store.listThreads(query);
      return page.nextCursor === null
        ? page.data
        : [...page.data, ...(await pagesOf({ ...query, cursor: page.nextCursor }))];
    }
  });
}

/** The ids that a query must find, oldest first. */
function inOrder(threads: ThreadRecord[], { sortKey, searchTerm }: ThreadQuery): string[] {
  return threads
    .filter(({ preview }) => searchTerm === null || preview === searchTerm)
    .sort((a, b) => a[`${sortKey}Ms`] - b[`${sortKey}Ms`] || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

/** One page of a path through a list, and whether the path turns back there. */
interface Step {
  limit: number;
  turns: boolean;
}

/**
 * Reads pages along a path. After a turn back, a page begins with the first entry of the page
 * before it.
 */
async function expectPath(
  store: ThreadStore,
  ids: string[],
  { first, path }: { first: ThreadQuery; path: Step[] },
): Promise<void> {
  let query = first;
  let at = 0;
  for (const { limit, turns } of path) {
    const list = query.direction === 'asc' ? ids : ids.toReversed();
    const page = await store.listThreads({ ...query, limit });
    expect(page.data.map(({ id }) => id)).toEqual(list.slice(at, at + limit));
    expect(page.nextCursor === null).toBe(at + limit >= list.length);
    if (turns) {
      query = {
        ...query,
        direction: query.direction === 'asc' ? 'desc' : 'asc',
        cursor: page.backwardsCursor,
      };
      at = list.length - 1 - at;
    } else {
      query = { ...query, cursor: page.nextCursor };
      at = page.nextCursor === null ? 0 : at + limit;
    }
  }
}
