import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonText } from '../../src/base/text/json-text.ts';

/** The bytes, divided at these places. */
function divided(bytes: Buffer, places: readonly number[]): JsonText {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (a, b) => a - b,
  );
  return new JsonText([0, ...ends].map((from, index) => bytes.subarray(from, ends[index])));
}

test('texts are equal if their bytes are, however they are divided', () => {
  const places = fc.array(fc.nat(40), { maxLength: 6 });
  const bytes = fc.uint8Array({ max: 1, maxLength: 40 }).map((each) => Buffer.from(each));
  fc.assert(
    fc.property(bytes, places, places, fc.option(fc.nat(39)), (text, one, other, changed) => {
      const second = Buffer.from(text);
      if (changed !== null && changed < second.length) second.writeUInt8(2, changed);
      expect(divided(text, one).equals(divided(second, other))).toBe(text.equals(second));
      expect(divided(text, one).equals(divided(Buffer.concat([text, text]), other))).toBe(
        text.length === 0,
      );
    }),
  );
});
