import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Utf8Text } from '../../src/base/text/utf8-text.ts';
import { runs } from '../support/runs.ts';

/** More than is decoded at once. */
const LONG_BYTES = 300 * 1024;

/** The text of bytes that come in parts, cut at these places. */
function textOf(bytes: Buffer, cuts: readonly number[]): string | null {
  const text = new Utf8Text();
  const places = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  for (const [index, place] of places.entries())
    text.push(bytes.subarray(places[index - 1] ?? 0, place));
  return text.take();
}

const cuts = fc.array(fc.nat(2 * LONG_BYTES), { maxLength: 20 });

test('a text is the same in any parts, short and long', { tags: 'seeded' }, () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
      fc.boolean(),
      cuts,
      (part, isLong, places) => {
        const text = part.repeat(isLong ? Math.ceil(LONG_BYTES / Buffer.byteLength(part)) : 1);
        expect(textOf(Buffer.from(text), places) === text).toBe(true);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('bytes that are not UTF-8 are no text, wherever they are', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      fc.nat(LONG_BYTES),
      cuts,
      (bytes, at, places) => {
        const around = 'aé€🧵'.repeat(LONG_BYTES / 10);
        const head = Buffer.from(around).subarray(0, at);
        const all = Buffer.concat([head, bytes, Buffer.from(around)]);
        expect(textOf(all, places) === (isUtf8(all) ? all.toString() : null)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test('each text begins anew, after one that is not UTF-8 too', () => {
  const text = new Utf8Text();
  for (const [bytes, expected] of [
    [[0xff], null],
    [[0x61], 'a'],
    [[0xe2, 0x82], null],
    [[], ''],
    [[0xef, 0xbb, 0xbf], '\ufeff'],
  ] as const) {
    text.push(Buffer.from(bytes));
    expect(text.take()).toBe(expected);
  }
  text.push(Buffer.alloc(LONG_BYTES, 0xff));
  text.drop();
  text.push(Buffer.from('b'));
  expect(text.take()).toBe('b');
});
