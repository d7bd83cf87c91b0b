import { expect, test } from 'vitest';
import { cutText } from '../../src/base/text/cut-text.ts';

test.each([
  ['a pair that would be cut in half', 'ab😀', 3, 'ab'],
  ['a pair behind a pair', '😀😀', 3, '😀'],
  ['a pair that fits', '😀b', 2, '😀'],
  ['a pair at the very end', 'ab😀', 4, 'ab😀'],
  ['only half a pair’s room', '😀', 1, ''],
  ['no room', 'ab', 0, ''],
  ['a text that is longer', 'abc', 2, 'ab'],
  ['a text that fits', 'ab', 2, 'ab'],
  ['a text with room to spare', 'ab', 9, 'ab'],
  ['nothing', '', 9, ''],
])('%s', (_, text, lengthMax, cut) => {
  expect(cutText(text, lengthMax)).toBe(cut);
});
