import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PartCounter } from '../../src/base/text/part-counter.ts';

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return (
    1 +
    (Array.isArray(value) ? 0 : members.length) +
    members.reduce<number>((sum, member) => sum + partsOf(member), 0)
  );
}

const texts = fc.constantFrom('', '"', '\\', '\\"', '[{', 'a:b', 'a\nb', '{"a":1}');
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    texts,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 4 }),
  ),
})).value;

test('the objects, arrays and members of a JSON text are counted, in any pieces', () => {
  fc.assert(
    fc.property(json, fc.boolean(), fc.integer({ min: 1, max: 20 }), (value, isPretty, length) => {
      const text = JSON.stringify(value, null, isPretty ? 2 : undefined);
      const counter = new PartCounter();
      for (let from = 0; from < text.length; from += length)
        counter.add(text.slice(from, from + length));
      expect(counter.add('')).toBe(partsOf(value));
    }),
    { numRuns: 500 },
  );
});

test('a quotation mark outside of JSON hides nothing in the lines after it', () => {
  expect(new PartCounter().add('a " b\n{"a":[1]}\n')).toBe(3);
});
