import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changedText,
  isTextChange,
  textChange,
} from '../../src/store/sqlite/history/text-change.ts';

const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc
    .array(fc.constantFrom('a', 'b', 'line 1\n', 'line 2 of the output\n', 'x'.repeat(60)), {
      maxLength: 40,
    })
    .map((parts) => parts.join('')),
);

test('a change makes the new text of the old one, also through JSON', () => {
  fc.assert(
    fc.property(text, text, fc.nat(300), (before, added, cut) => {
      for (const after of [
        added,
        before + added,
        before.slice(0, cut) + added + before.slice(cut),
        before.slice(cut) + added,
      ]) {
        const change: unknown = JSON.parse(JSON.stringify(textChange(before, after)));
        if (!isTextChange(change, before.length)) throw new Error('not a change');
        expect(changedText(before, change)).toBe(after);
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});

test('a change is short where text was appended, or where a middle moved', () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_line, index) => `line ${from + index}\n`).join('');
  const before = `{"text":"${lines(0, 2000)}… 17 left out …${lines(5000, 7000)}","x":1}`;
  const after = `{"text":"${lines(0, 2000)}… 37 left out …${lines(5020, 7030)}","x":1}`;
  expect(JSON.stringify(textChange(before, after)).length).toBeLessThan(600);
  expect(textChange('{"text":"abc"}', '{"text":"abcdef"}')).toEqual([[0, 12], 'def', [12, 14]]);
});

test('anything that does not fit the old text is no change', () => {
  for (const wrong of [
    null,
    {},
    'a',
    [1],
    [[0]],
    [[0, 6]],
    [[-1, 2]],
    [[2, 1]],
    [[0.5, 1]],
    [['a', 'b']],
  ])
    expect(isTextChange(wrong, 5)).toBe(false);
});
