import { relative } from 'node:path';
import fc from 'fast-check';
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

test('any two absolute paths are judged as by the way from one to the other', () => {
  const name = fc.constantFrom('', '.', '..', 'a', 'b', 'ab', '..a', 'a..', '.a', '...');
  const path = fc.array(name, { maxLength: 5 }).map((names) => `/${names.join('/')}`);
  fc.assert(
    fc.property(path, path, (one, folder) => {
      const way = relative(folder, one);
      expect(isWithin(one, folder)).toBe(way !== '..' && !way.startsWith('../'));
      expect(isBelow(one, folder)).toBe(way !== '' && way !== '..' && !way.startsWith('../'));
    }),
    { seed: 1, numRuns: 5000 },
  );
});
