import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { jsonText } from '../../src/base/text/json-text.ts';

const text = async (value: unknown) => (await jsonText(value, new EventLoopYield())).toString();

test('for any value, the text is that of JSON.stringify', async () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.array(fc.record({ a: fc.string(), b: fc.option(fc.nat(), { nil: undefined }) })),
  );
  await fc.assert(
    fc.asyncProperty(value, async (each) => {
      expect(await text(each)).toBe(JSON.stringify(each));
    }),
  );
});

test('long strings, long lists and large objects are made in parts', async () => {
  const long = 'a\n"😀'.repeat(50_000);
  const large = {
    long,
    list: Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'é', none: undefined })),
    nested: { deep: [[long]] },
    empty: {},
  };
  const made = await jsonText(large, new EventLoopYield());
  expect(made.toString()).toBe(JSON.stringify(large));
  expect(made.length).toBe(Buffer.byteLength(JSON.stringify(large)));
  expect(made.parts.length).toBeGreaterThan(3);
  expect(Math.max(...made.parts.map((part) => part.length))).toBeLessThan(1024 * 1024);
});

test('a character is not cut in two, and lone surrogates are escaped', async () => {
  for (const offset of [0, 1]) {
    const value = `${'x'.repeat(offset)}${'😀'.repeat(40_000)}\ud800`;
    expect(await text(value)).toBe(JSON.stringify(value));
  }
});
