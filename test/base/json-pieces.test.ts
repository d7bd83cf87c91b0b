import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPieces, jsonWeight } from '../../src/base/text/json-pieces.ts';

const PIECE_CHARS_MAX = 512 * 1024;

const joined = (value: unknown) => [...jsonPieces(value)].join('');

test('the pieces are the text that JSON.stringify makes', () => {
  const long = fc.tuple(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 7 }),
    fc.integer({ min: 1, max: 60_000 }),
  );
  const text = fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: 'binary' }) },
    long.map(([part, times]) => part.repeat(times)),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('table'),
    ),
    list: fc.array(tie('value')),
    table: fc.dictionary(text, fc.oneof(tie('value'), fc.constant(undefined))),
  }));
  fc.assert(
    fc.property(value, (data) => {
      expect(joined(data)).toBe(JSON.stringify(data));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test.each([
  ['a long string', '\u{1f600}'.repeat(1_000_000)],
  [
    'many short values',
    Array.from({ length: 200_000 }, (_, index) => ({ name: `n${index}`, isFile: true })),
  ],
  [
    'many members',
    Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key${index}`, [index]])),
  ],
  [
    'long values among short ones',
    [1, 'x'.repeat(300_000), { a: ['y'.repeat(300_000), 2], b: undefined }, [], {}, 'z'],
  ],
])('no piece of %s is long', (_what, value) => {
  const pieces = [...jsonPieces(value)];
  expect(pieces.join('')).toBe(JSON.stringify(value));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(PIECE_CHARS_MAX);
});

test('the weight of a value is about the length of its text, and is not counted further than needed', () => {
  const value = {
    items: Array.from({ length: 1000 }, (_, index) => ({ text: 'x'.repeat(index), done: false })),
  };
  const { length } = JSON.stringify(value);
  expect(jsonWeight(value, Number.POSITIVE_INFINITY)).toBeGreaterThan(length / 2);
  expect(jsonWeight(value, Number.POSITIVE_INFINITY)).toBeLessThan(length * 2);
  expect(jsonWeight(value, 1000)).toBeGreaterThan(1000);
  expect(jsonWeight(value, 1000)).toBeLessThan(3000);
});
