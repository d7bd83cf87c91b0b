import { expect, test } from 'vitest';
import { mapStrings, parsedJson } from '../../src/base/json-value.ts';

test('invalid JSON is undefined, and null is null', () => {
  expect(['{"a":[1]}', 'null', '', '{', 'undefined'].map(parsedJson)).toEqual([
    { a: [1] },
    null,
    undefined,
    undefined,
    undefined,
  ]);
});

test('strings are mapped with the key they are the value of, keys too, and what is nested too deeply is null', () => {
  const value = { a: 'x', b: ['y', { c: 'z', d: 1, e: null }], ['__proto__']: 'p' };
  const text = (part: string, key: string | null) => `${key}:${part}`;
  const mapKey = (key: string) => key.toUpperCase();
  const all = mapStrings(value, text, { mapKey });
  expect([JSON.stringify(all), JSON.stringify(mapStrings(value, text, { depthMax: 1 }))]).toEqual([
    '{"A":"a:x","B":["null:y",{"C":"c:z","D":1,"E":null}],"__PROTO__":"__proto__:p"}',
    '{"a":"a:x","b":[null,null],"__proto__":"__proto__:p"}',
  ]);
  expect(Object.getPrototypeOf(mapStrings(value, (part) => part))).toBe(Object.prototype);
});
