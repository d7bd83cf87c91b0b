import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsedJson } from '../../src/base/json-value.ts';
import { parseLongJson } from '../../src/base/parse-long-json.ts';
import { runs } from '../support/runs.ts';

describe('a text is parsed as by JSON.parse', () => {
  test.each([
    '{"a":[1,-0,2.5e-3,true,false,null,"x"],"b":{"c":{}},"d":[],"e":[[],{}]}',
    ' { "a" : [ 1 , { } ] } \n',
    '{"a":1,"b":2,"a":3}',
    '{"__proto__":{"x":1},"constructor":1}',
    '"\\ud83d\\ude00 \\u00e9 \\" \\\\ \\/ \\b\\n"',
    '12345678901234567890',
    '',
    ' ',
    '[1,]',
    '[,1]',
    '{"a":1,}',
    '{"a"}',
    '{a:1}',
    '[1}',
    '{"a":1]',
    '[1] 2',
    '01',
    '1.',
    '+1',
    'nul',
    '"a',
    '"\\x"',
    '"\u0001"',
    '[\u00a01]',
    '\ufeff1',
  ])('%s', async (text) => {
    expect(await parseLongJson(text)).toStrictEqual(parsedJson(text));
  });

  test('whatever its values are, and also with a mistake', { tags: 'seeded' }, async () => {
    const text = fc.tuple(
      fc.json({ maxDepth: 5 }),
      fc.nat(),
      fc.constantFrom('', '', '', '"', '\\', ',', ']', '}', ' ', '0', 'e'),
    );
    await fc.assert(
      fc.asyncProperty(text, async ([json, place, mistake]) => {
        const at = place % (json.length + 1);
        const changed = json.slice(0, at) + mistake + json.slice(at);
        expect(await parseLongJson(changed)).toStrictEqual(parsedJson(changed));
      }),
      { seed: 1, numRuns: runs(3000) },
    );
  });

  test('long strings, wherever they are cut', { tags: 'seeded' }, async () => {
    const part = fc.constantFrom(
      'x',
      '\\',
      '"',
      '\n',
      '\u0007',
      'é',
      '\u{1f600}',
      '\\\\',
      'plain text',
      '\ud800',
    );
    const long = fc
      .tuple(fc.array(part, { minLength: 1, maxLength: 12 }), fc.nat(5))
      .map(([parts, shift]) => 'y'.repeat(shift) + parts.join('').repeat(40_000));
    await fc.assert(
      fc.asyncProperty(long, fc.boolean(), async (value, escaped) => {
        const json = JSON.stringify([value, { [value.slice(0, 70_000)]: value }]);
        const text = escaped ? json.replaceAll('x', '\\u0078') : json;
        expect((await parseLongJson(text)) as unknown).toEqual(JSON.parse(text));
      }),
      { seed: 1, numRuns: runs(40) },
    );
  });
});

test('deeply nested values take no stack', async () => {
  const depth = 1_000_000;
  let value = await parseLongJson(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  let found = 0;
  for (; Array.isArray(value) && value.length > 0; [value] = value) found++;
  expect(found).toBe(depth - 1);
});
