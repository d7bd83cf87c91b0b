import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutMiddleBytes } from '../../src/base/text/cut-middle-bytes.ts';

const cut = (text: string, bytesMax: number) =>
  cutMiddleBytes(text, bytesMax, (charsLeftOut) => `[${charsLeftOut}]`);

test.each([
  ['', 4, ''],
  ['abcd', 4, 'abcd'],
  ['abcde', 4, 'ab[1]de'],
  ['éé', 4, 'éé'],
  ['ééé', 4, 'é[1]é'],
  ['😀', 4, '😀'],
  ['😀😀😀', 8, '😀[2]😀'],
  ['a😀b😀c', 4, 'a[5]c'],
  ['€€€', 4, '[3]'],
])('%j in %i bytes: %j', (text, bytesMax, expected) => {
  expect(cut(text, bytesMax)).toBe(expected);
});

test('what stays fits, is the start and the end of the text, and splits no character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.integer({ min: 2, max: 40 }),
      (text, bytesMax) => {
        const result = cut(text, bytesMax);
        const isShort = Buffer.byteLength(text) <= bytesMax;
        expect(result === text).toBe(isShort);
        if (isShort) return;
        const [, start = '', left = '', end = ''] =
          /^([\s\S]*)\[(\d+)\]([\s\S]*)$/.exec(result) ?? [];
        expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
        expect(start.length + Number(left) + end.length).toBe(text.length);
        for (const part of [start, end]) {
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytesMax / 2);
          expect(Buffer.from(part).toString()).toBe(part);
        }
        const next = [...text.slice(start.length)][0] ?? '';
        expect(Buffer.byteLength(start + next)).toBeGreaterThan(Math.floor(bytesMax / 2));
      },
    ),
    { numRuns: 500 },
  );
});
