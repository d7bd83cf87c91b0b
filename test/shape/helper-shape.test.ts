import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { helpersTwice } from './helper-shape.ts';
import type { SourceFile } from './read-source.ts';

const HELPER = `function linesOf(text: string): string[] {
  const lines = text.trim().split('\\n').filter((line) => line !== NONE);
  return lines.map(({ length }) => String(length));
}`;
const NONE = "const NONE = '';";

function fileOf(path: string, text: string): SourceFile {
  const { program, comments } = parseSync(path, text);
  return { path, text, program, comments };
}

/** Whether the helper of the second text does the same as the one above. */
function isTwice(...other: string[]): boolean {
  const files = [fileOf('test/a.ts', `${NONE}\n${HELPER}`), fileOf('test/b.ts', other.join('\n'))];
  return helpersTwice(files).length > 0;
}

describe('a helper does the same as another', () => {
  test.each([
    ['as a copy', HELPER, NONE],
    ['with another name', HELPER.replace('linesOf', 'partsOf'), NONE],
    ['with other names of its variables', HELPER.replace(/\btext\b/g, 'whole'), NONE],
    ['with other types', HELPER.replace(': string[]', ''), NONE],
    ['exported', `export ${HELPER}`, NONE],
    [
      'with a constant of another name and the same value',
      HELPER.replace('NONE', 'NO'),
      "const NO = '';",
    ],
    ['with a cast', HELPER.replace('=> String(length)', '=> String(length) as string'), NONE],
    [
      'as an arrow function',
      HELPER.replace(
        'function linesOf(text: string): string[]',
        'const linesOf = (text: string) =>',
      ),
      NONE,
    ],
    [
      'with a block in place of a value',
      HELPER.replace('(line) => line !== NONE', '(line) => {\n return line !== NONE;\n}'),
      NONE,
    ],
  ])('%s', (_, ...other) => {
    expect(isTwice(...other)).toBe(true);
  });
});

describe('a helper does not do the same as another', () => {
  test.each([
    ['with a constant of another value', HELPER, "const NONE = '-';"],
    ['with an import of that name', HELPER, "import { NONE } from './none.ts';"],
    ['with another literal', HELPER.replace("'\\n'", "','"), NONE],
    ['with another property', HELPER.replace('.trim', '.trimEnd'), NONE],
    ['with another field of a pattern', HELPER.replace('{ length }', '{ size: length }'), NONE],
    ['with two variables exchanged', HELPER.replace('lines.map', 'text.map'), NONE],
    ['that waits', HELPER.replace('function', 'async function'), NONE],
  ])('%s', (_, ...other) => {
    expect(isTwice(...other)).toBe(false);
  });

  test('of the same file', () => {
    expect(
      helpersTwice([
        fileOf('test/a.ts', `${NONE}\n${HELPER}\n${HELPER.replace('linesOf', 'partsOf')}`),
      ]),
    ).toEqual([]);
  });
});
