import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { decodeAnyBytes } from '../../src/base/text/decode-utf8.ts';

test('bytes in any parts become the text that they are as a whole; a cut character is left out if the end is cut', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each)),
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(`\uFEFF${text}`)),
  );
  await fc.assert(
    fc.asyncProperty(
      bytes,
      fc.array(fc.nat(60), { maxLength: 5 }),
      fc.boolean(),
      async (whole, cuts, isCut) => {
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b),
          whole.length,
        ];
        const parts = places.slice(1).map((place, index) => whole.subarray(places[index], place));
        const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole, {
          stream: isCut,
        });
        expect(await decodeAnyBytes(parts, { isCut }, new EventLoopYield())).toBe(expected);
      },
    ),
    { numRuns: 300 },
  );
});
