import { describe, expect, test } from 'vitest';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import { parsePatch } from '../../../src/tools/apply-patch/parse-patch.ts';
import { PatchError } from '../../../src/tools/apply-patch/patch-error.ts';
import { patchOf } from './apply-to-files.ts';

const parsed = (text: string) => parsePatch(text, new EventLoopYield());

function update(...lines: string[]): string {
  return patchOf('*** Update File: f', ...lines);
}

const ADD_X = [{ type: 'add', path: 'n', text: 'x\n' }];

test('every kind of operation, in the order of the patch', async () => {
  const text = patchOf(
    '*** Add File: dir/a b.txt',
    '+one',
    '+',
    '*** Delete File: /abs/old',
    '*** Update File: f',
    '*** Move to: g',
    '@@ class A',
    ' kept',
    '-gone',
    '+new',
    '',
    '@@',
    '+last',
    '*** End of File',
  );
  expect(await parsed(text)).toEqual([
    { type: 'add', path: 'dir/a b.txt', text: 'one\n\n' },
    { type: 'delete', path: '/abs/old' },
    {
      type: 'update',
      path: 'f',
      moveTo: 'g',
      chunks: [
        {
          anchor: 'class A',
          lines: [
            { kind: ' ', text: 'kept' },
            { kind: '-', text: 'gone' },
            { kind: '+', text: 'new' },
            { kind: ' ', text: '' },
          ],
          atEnd: false,
        },
        { anchor: null, lines: [{ kind: '+', text: 'last' }], atEnd: true },
      ],
    },
  ]);
});

describe('the envelope', () => {
  test.each([
    [
      'blanks around the first and the last line',
      ' *** Begin Patch \n*** Add File: n\n+x\n  *** End Patch\t',
    ],
    ['blank lines around the patch', '\n\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n\n'],
    ['blanks around a header', patchOf('  *** Add File: n  ', '+x')],
    ['blank lines between operations', patchOf('', '*** Add File: n', '+x', '')],
    ['CRLF line ends', patchOf('*** Add File: n', '+x').replaceAll('\n', '\r\n')],
    ['a heredoc around it', `<<EOF\n${patchOf('*** Add File: n', '+x')}\nEOF`],
    ['a quoted heredoc around it', `<<'EOF'\n${patchOf('*** Add File: n', '+x')}\nEOF\n`],
  ])('takes %s', async (_name, text) => {
    expect(await parsed(text)).toEqual(ADD_X);
  });

  test.each([
    ['nothing', ''],
    ['prose before it', `Here it is:\n${patchOf('*** Add File: n', '+x')}`],
    ['text after it', `${patchOf('*** Add File: n', '+x')}\nDone.`],
    ['a code fence', `\`\`\`\n${patchOf('*** Add File: n', '+x')}\n\`\`\``],
    ['two patches', `${patchOf('*** Add File: n', '+x')}\n${patchOf('*** Add File: m', '+x')}`],
    ['no end', '*** Begin Patch\n*** Add File: n\n+x'],
    ['a first line alone', '*** Begin Patch'],
    ['a heredoc with another tag at its end', `<<EOF\n${patchOf('*** Add File: n', '+x')}\nEND`],
    ['no operation', patchOf()],
  ])('refuses %s', async (_name, text) => {
    await expect(parsed(text)).rejects.toThrow(PatchError);
  });
});

describe('an error names the invalid line', () => {
  test.each([
    [
      'an unknown header',
      patchOf('*** Frob File: x'),
      /^invalid patch, line 2: '\*\*\* Frob File: x' is not a file header/,
    ],
    [
      'an empty path',
      patchOf('*** Add File:  '),
      /line 2: the path is empty or contains a NUL character/,
    ],
    [
      'a NUL in a path',
      patchOf('*** Delete File: a\0b'),
      /line 2: the path is empty or contains a NUL character/,
    ],
    ['an update without changes', update(), /the update of 'f' has no changes/],
    ['a rename without changes', update('*** Move to: g'), /the update of 'f' has no changes/],
    ['two places in a row', update('@@', '@@', '-a'), /line 4: no lines follow '@@'/],
    [
      'a place at the end of the file without lines',
      update('@@', '*** End of File'),
      /no lines follow '@@'/,
    ],
    ['@@ without a blank', update('@@def', '-a'), /line 3: expected a line that begins/],
    [
      'a line without a mark',
      update('@@', '-a', 'b'),
      /line 5: expected a line that begins with ' ', '\+' or '-', found 'b'/,
    ],
    [
      'a line without a mark in a new file',
      patchOf('*** Add File: n', '+x', 'y'),
      /line 4: 'y' is not a file header/,
    ],
    [
      'a second chunk without @@',
      update('@@', '-a', '*** End of File', '-b'),
      /line 6: expected '@@' or '@@ LINE'/,
    ],
  ])('%s', async (_name, text, problem) => {
    await expect(parsed(text)).rejects.toThrow(problem);
  });
});

test('a new file without lines is empty', async () => {
  expect(await parsed(patchOf('*** Add File: n'))).toEqual([{ type: 'add', path: 'n', text: '' }]);
});

test('the first chunk may lack its @@, and blank lines may stand before it', async () => {
  const chunk = { anchor: null, lines: [{ kind: '-', text: 'a' }], atEnd: false };
  expect(await parsed(update('-a'))).toMatchObject([{ chunks: [chunk] }]);
  expect(await parsed(update('', '@@', '-a'))).toMatchObject([{ chunks: [chunk] }]);
});

test('a unified diff header is read as an anchor', async () => {
  expect(await parsed(update('@@ -1,3 +1,3 @@', '-a'))).toMatchObject([
    { chunks: [{ anchor: '-1,3 +1,3 @@' }] },
  ]);
});

test('a header after a space is a line of the current change', async () => {
  const lines = [{ kind: ' ', text: '*** Delete File: g' }];
  expect(await parsed(update('@@', ' *** Delete File: g'))).toMatchObject([
    { chunks: [{ lines }] },
  ]);
});
