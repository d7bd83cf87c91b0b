import { setImmediate } from 'node:timers/promises';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import { unifiedDiff } from '../../../src/tools/apply-patch/diff/unified-diff.ts';
import { runs } from '../../support/runs.ts';

test('a change has three context lines on each side', async () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`);
  const after = before.toSpliced(9, 1, 'ten\n', 'more\n').toSpliced(0, 1);
  expect(await unifiedDiff(before.join(''), after.join(''), new EventLoopYield())).toBe(
    '@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -7,7 +6,8 @@\n 7\n 8\n 9\n-10\n+ten\n+more\n 11\n 12\n 13\n',
  );
});

test.each([
  ['x\n', 'y\n', '@@ -1 +1 @@\n-x\n+y\n'],
  ['a\nb\nc\n', 'a\nB\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n'],
  ['', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b\n'],
  ['a\n', '', '@@ -1 +0,0 @@\n-a\n'],
  ['a', 'a\n', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n'],
  ['a\nb', 'b', '@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n'],
  ['same\n', 'same\n', ''],
])('%j to %j', async (before, after, diff) => {
  expect(await unifiedDiff(before, after, new EventLoopYield())).toBe(diff);
});

test('applying the diff to the first text gives the second', { tags: 'seeded' }, async () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'a\r\n', '-\n', '+ x\n', '@@\n');
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('', '', 'end'))
    .map(([lines, end]) => lines.join('') + end);
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const diff = await unifiedDiff(before, after, new EventLoopYield());
      if (before === after) expect(diff).toBe('');
      else
        expect(applyPatch(before, `--- a\n+++ b\n${diff}`, { autoConvertLineEndings: false })).toBe(
          after,
        );
    }),
    { numRuns: runs(500) },
  );
});

test('texts that take too long to compare still give a correct diff', async () => {
  const random = (seed: number) =>
    Array.from({ length: 60_000 }, (_, index) => `${(index * seed) % 7919}\n`).join('');
  const [before, after] = [`first\n${random(31)}last\n`, `first\n${random(57)}last\n`];
  const diff = await unifiedDiff(before, after, new EventLoopYield());
  expect(applyPatch(before, `--- a\n+++ b\n${diff}`)).toBe(after);
});

test('ten thousand changes in a large file are separate hunks, and other work goes on meanwhile', async () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`);
  const after = lines.map((line, index) => (index % 10 === 5 ? `new ${index}\n` : line)).join('');
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; turns++) await setImmediate();
  })();
  const diff = await unifiedDiff(lines.join(''), after, new EventLoopYield());
  isDone = true;
  await others;
  expect(diff.match(/^[-+]/gm)).toHaveLength(20_000);
  expect(turns).toBeGreaterThan(20);
});
