import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { sortInParts } from '../../src/base/sort-in-parts.ts';

test('items are sorted as by sort, and equal ones keep their order', async () => {
  const item = fc.record({ rank: fc.integer({ min: 0, max: 50 }), id: fc.integer() });
  const compare = (one: { rank: number }, other: { rank: number }) => one.rank - other.rank;
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 6000, size: 'max' }), async (items) => {
      const before = [...items];
      expect(await sortInParts(items, compare, new EventLoopYield())).toEqual(
        before.toSorted(compare),
      );
      expect(items).toEqual(before);
    }),
    { seed: 1, numRuns: 30 },
  );
});
