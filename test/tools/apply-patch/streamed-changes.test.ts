import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  streamedChanges,
  streamedInput,
} from '../../../src/tools/apply-patch/diff/streamed-changes.ts';

const PATCH = `*** Begin Patch
*** Add File: new.txt
+one
*** Update File: old.txt
*** Move to: moved.txt
@@ here
 kept
-gone
+put
*** Delete File: gone.txt
*** End Patch
`;

test('the changes in the complete lines so far', () => {
  expect(streamedChanges('*** Begin Patch\n*** Add File: n')).toEqual([]);
  expect(streamedChanges('*** Begin Patch\n*** Add File: n\n+one\n+tw')).toEqual([
    { path: 'n', kind: { type: 'add' }, diff: 'one\n' },
  ]);
  expect(streamedChanges(PATCH)).toEqual([
    { path: 'new.txt', kind: { type: 'add' }, diff: 'one\n' },
    {
      path: 'old.txt',
      kind: { type: 'update', move_path: 'moved.txt' },
      diff: '@@ here\n kept\n-gone\n+put\n',
    },
    { path: 'gone.txt', kind: { type: 'delete' }, diff: '' },
  ]);
});

test('the input in truncated arguments is a prefix of the whole input', () => {
  const input = `${PATCH}"quoted" \\ \u00e9 \u{1f600}`;
  fc.assert(
    fc.property(fc.boolean(), fc.nat(400), (spaced, length) => {
      const json = JSON.stringify({ input }, null, spaced ? 2 : 0).replace('\u00e9', '\\u00e9');
      expect(input.startsWith(streamedInput(json.slice(0, length)))).toBe(true);
      expect(streamedInput(json)).toBe(input);
    }),
  );
});

test('arguments without an input give an empty string', () => {
  expect(streamedInput('')).toBe('');
  expect(streamedInput('{"other": "x"')).toBe('');
  expect(streamedInput('{"input": "\\q')).toBe('');
});
