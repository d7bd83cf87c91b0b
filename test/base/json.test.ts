import { expect, test } from 'vitest';
import { parsedJson } from '../../src/base/json-value.ts';

test('a text that is no JSON is told from one that says null', () => {
  expect(['{"a":[1]}', 'null', '', '{', 'undefined'].map(parsedJson)).toEqual([{ a: [1] }, null, undefined, undefined, undefined]);
});
