import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsedJson } from '../../src/base/json-value.ts';
import { jsonFault } from '../../src/base/text/json-fault.ts';
import { JSON_TEXTS } from '../process/json-texts.ts';

test.each([
  ['hello', 'expected a value', 0],
  ['', 'it ends too soon: expected a value', 0],
  ['{"a":tru}', 'expected a value', 5],
  ['{a:1}', 'expected a name in double quotes or }', 1],
  ["{'a':1}", 'expected a name in double quotes or }', 1],
  ['{"a":1,}', 'expected a name in double quotes', 7],
  ['{"a" 1}', 'expected a colon', 5],
  ['{"a":1', 'it ends too soon: expected a comma or }', 6],
  ['{"a":1 "b":2}', 'expected a comma or }', 7],
  ['[1,]', 'expected a value', 3],
  ['[1', 'it ends too soon: expected a comma or ]', 2],
  ['[1}', 'expected a comma or ]', 2],
  ['{"a":01}', 'expected a comma or }', 6],
  ['{"a":1}{"b":2}', 'expected the end', 7],
  ['{"a":"b', 'it ends too soon: a string has no end', 7],
  ['"a\tb"', 'a string has a control character: write it as an escape', 2],
  ['"a\\xb"', 'a string has an escape that JSON does not know', 2],
])('%j: %s, at %i', (text, reason, index) => {
  expect(jsonFault(text)).toEqual({ reason, index });
});

test('finds a fault exactly in what JSON.parse refuses', () => {
  for (const { name, text } of JSON_TEXTS) {
    const string = text.toString();
    expect([name, jsonFault(string) === null]).toEqual([name, parsedJson(string) !== undefined]);
  }
});

test('the part before a fault can be the beginning of JSON, and with the character it cannot', {
  tags: 'seeded',
}, () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', ':', '0', '\\', 'x', '\n'))
    .map(([text, at, mark]) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + mark + text.slice(cut + 1);
    });
  fc.assert(
    fc.property(broken, (text) => {
      const fault = jsonFault(text);
      expect(fault === null).toBe(parsedJson(text) !== undefined);
      if (fault === null) return;
      const before = jsonFault(text.slice(0, fault.index));
      if (before !== null) expect(before.index).toBe(fault.index);
      const through = jsonFault(text.slice(0, fault.index + 1));
      if (fault.index < text.length) expect(through?.index).toBe(fault.index);
    }),
  );
});
