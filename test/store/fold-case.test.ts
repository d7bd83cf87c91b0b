import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldCase } from '../../src/store/fold-case.ts';

test('all letters of Unicode are the same in any case', () => {
  const letters = Array.from({ length: 0x1ffff }, (_, point) => String.fromCodePoint(point)).filter(
    (letter) => /\p{L}/u.test(letter),
  );
  const differing = letters.filter(
    (letter) =>
      new Set([letter, letter.toUpperCase(), letter.toLowerCase()].map(foldCase)).size > 1,
  );
  expect(differing).toEqual([]);
  expect(['STRASSE', 'straße', 'STRAẞE'].map(foldCase)).toEqual(['strasse', 'strasse', 'strasse']);
  expect(['ΟΔΟΣ', 'οδος', 'οδοσ'].map(foldCase)).toEqual(['οδοσ', 'οδοσ', 'οδοσ']);
});

test('folding a folded string changes nothing, and strings can be folded in parts', () => {
  const text = fc.string({ unit: 'binary', maxLength: 6 });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(foldCase(one + other)).toBe(foldCase(one) + foldCase(other));
      expect(foldCase(foldCase(one))).toBe(foldCase(one));
    }),
  );
});

test('characters that SQLite cannot store are replaced', () => {
  expect(foldCase('A\0B\ud800C')).toBe('a\ufffdb\ufffdc');
});
