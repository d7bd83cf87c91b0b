import { expect, test } from 'vitest';
import { LEFT_OUT, mapJson, mapStrings, parsedJson, walkJson } from '../../src/base/json-value.ts';

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

test('a walk visits each value once, in the order of the JSON, with its key and depth', () => {
  const value = { a: 'x', b: ['y', { c: null }, ['z']], d: {} };
  const seen: unknown[] = [];
  const isWhole = walkJson(value, (part, key, depth, isElement) => {
    seen.push([JSON.stringify(part), key, depth, isElement]);
    return true;
  });
  expect([isWhole, ...seen]).toEqual([
    true,
    [JSON.stringify(value), null, 0, false],
    ['"x"', 'a', 1, false],
    ['["y",{"c":null},["z"]]', 'b', 1, false],
    ['"y"', 'b', 2, true],
    ['{"c":null}', 'b', 2, true],
    ['null', 'c', 3, false],
    ['["z"]', 'b', 2, true],
    ['"z"', 'b', 3, true],
    ['{}', 'd', 1, false],
  ]);
});

test('a walk does not look into a value for false, and ends for null', () => {
  const texts = (end: string | null) => {
    const found: string[] = [];
    const isWhole = walkJson(['a', ['b'], { skip: ['c'] }, { d: 'd' }, 'e'], (part, key) => {
      if (typeof part === 'string') found.push(part);
      return part === end ? null : key !== 'skip';
    });
    return [isWhole, found.join('')];
  };
  expect([texts(null), texts('b'), texts('d')]).toEqual([
    [true, 'abde'],
    [false, 'ab'],
    [false, 'abd'],
  ]);
});

test('a copy leaves out the rest of each list and object, and can mark where', () => {
  const value = [1, 'end', 2, { a: 1, b: ['end'], c: 'end', d: 1 }];
  const change = (part: unknown) => (part === 'end' ? LEFT_OUT : undefined);
  expect([
    mapJson(value.slice(2), change),
    mapJson(value.slice(2), change, { restMark: '…' }),
    mapJson(value, change, { restMark: '…' }),
  ]).toEqual([
    [2, { a: 1, b: [] }],
    [2, { a: 1, b: ['…'], '…': true }],
    [1, '…'],
  ]);
});

test('random JSON is copied as it is, and walked as JSON.stringify does', () => {
  let seed = 11;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Math.floor((seed / 0x7fffffff) * below);
  };
  const made = (depth: number): unknown => {
    const kind = depth > 5 ? random(4) : random(8);
    if (kind < 4) return ['text', -1.5, null, false][kind];
    const keys = ['a', '__proto__', '1', '', 'constructor'].slice(0, random(6));
    if (kind < 6) return keys.map(() => made(depth + 1));
    return JSON.parse(
      `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(made(depth + 1))}`)}}`,
    );
  };
  for (let count = 0; count < 500; count++) {
    const value = made(0);
    const walked: unknown[] = [];
    walkJson(value, (part) => walked.push(part) > 0);
    const written: unknown[] = [];
    JSON.stringify(value, (_key, part) => {
      written.push(part);
      return part;
    });
    const copy = mapJson(value, () => undefined);
    expect([copy, JSON.stringify(copy), walked]).toEqual([value, JSON.stringify(value), written]);
    expect(copy === value).toBe(typeof value !== 'object' || value === null);
  }
});
