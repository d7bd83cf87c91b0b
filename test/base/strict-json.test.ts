import fc from 'fast-check';
import { expect, test } from 'vitest';
import { strictJson } from '../../src/base/json-value.ts';

/** The text with each character written as an escape that JSON allows, if the bit for it is set. */
function escaped(text: string, bits: number): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  const written = units.map((unit, at) =>
    (bits >> (at % 31)) & 1
      ? `\\u${unit.toString(16).padStart(4, '0')}`
      : JSON.stringify(String.fromCharCode(unit)).slice(1, -1),
  );
  return `"${written.join('')}"`;
}

/** All objects and their keys in a value. */
function objects(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(objects);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}

test('JSON is read as by JSON.parse, as long as no object has a key twice', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
      // Without the spelling of the generator, which may have a key twice.
      const text = JSON.stringify(JSON.parse(json));
      expect(strictJson(text)).toEqual(JSON.parse(text));
      expect(strictJson(JSON.stringify(JSON.parse(text), null, 2))).toEqual(JSON.parse(text));
    }),
    { seed: 22, numRuns: 500 },
  );
});

test('an object with a key twice is refused, wherever it is and however the key is written', () => {
  const value = fc.object({
    maxDepth: 3,
    key: fc.string({ unit: 'binary', maxLength: 5 }),
    values: [fc.string(), fc.boolean()],
  });
  fc.assert(
    fc.property(value, fc.nat(), fc.nat(), fc.boolean(), (whole, place, bits, isLast) => {
      const all = objects(whole).filter((each) => Object.keys(each).length > 0);
      fc.pre(all.length > 0);
      const doubled = all[place % all.length] ?? {};
      const key = Object.keys(doubled)[place % Object.keys(doubled).length] ?? '';
      const write = (each: unknown): string => {
        if (typeof each !== 'object' || each === null) return JSON.stringify(each);
        if (Array.isArray(each)) return `[${each.map(write).join()}]`;
        const entries = Object.entries(each).map(
          ([name, inner]) => `${JSON.stringify(name)}: ${write(inner)}`,
        );
        const twice = `${escaped(key, bits)} :null`;
        if (each === doubled) entries.splice(isLast ? entries.length : 0, 0, twice);
        return `{${entries.join()}}`;
      };
      const text = write(whole);
      expect(() => JSON.parse(text)).not.toThrow();
      expect(strictJson(text)).toBeUndefined();
    }),
    { seed: 22, numRuns: 500 },
  );
});

test('text that is not JSON, or not only JSON, is refused', () => {
  for (const text of [
    '',
    ' ',
    'yes',
    '{"a":1} yes',
    'yes {"a":1}',
    '{"a":1}{"a":1}',
    '{"a":1,}',
    "{'a':1}",
  ]) {
    expect(strictJson(text), text).toBeUndefined();
  }
});
