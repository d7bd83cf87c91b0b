import { expect, test } from 'vitest';
import { parsedJson } from '../../src/base/json-value.ts';

test('invalid JSON is undefined, and null is null', () => {
  expect(['{"a":[1]}', 'null', '', '{', 'undefined'].map(parsedJson)).toEqual([
    { a: [1] },
    null,
    undefined,
    undefined,
    undefined,
  ]);
});
