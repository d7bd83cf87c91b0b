import { expect, test } from 'vitest';
import { isBelow, isWithin } from '../../../src/base/paths/is-within.ts';

test('a path is within a folder, not within folders with similar names', () => {
  expect(isWithin('/a/b', '/a')).toBe(true);
  expect(isWithin('/a', '/a')).toBe(true);
  expect(isWithin('/a/..b', '/a')).toBe(true);
  expect(isWithin('/ab', '/a')).toBe(false);
  expect(isWithin('/', '/a')).toBe(false);
  expect(isWithin('/a', '/')).toBe(true);
});

test('a folder is not below itself', () => {
  expect(isBelow('/a/b', '/a')).toBe(true);
  expect(isBelow('/a', '/')).toBe(true);
  expect(isBelow('/a', '/a')).toBe(false);
  expect(isBelow('/ab', '/a')).toBe(false);
});
