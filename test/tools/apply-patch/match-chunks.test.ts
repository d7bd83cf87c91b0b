import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import { applyChunks } from '../../../src/tools/apply-patch/apply-chunks.ts';
import { parsePatch } from '../../../src/tools/apply-patch/parse-patch.ts';
import { runs } from '../../support/runs.ts';

/** The content of a file after an update with these lines. */
async function changed(text: string, ...lines: string[]): Promise<string> {
  const patch = ['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n');
  const [operation] = await parsePatch(patch, new EventLoopYield());
  if (operation?.type !== 'update') throw new Error('the test needs an update');
  return applyChunks(text, operation.chunks, { path: '/w/f', breaks: new EventLoopYield() });
}

describe('searching for the lines', () => {
  test('whitespace at the end, then around a line, then typographic punctuation may differ', async () => {
    expect(await changed('a  \nb\n', '@@', '-a', '+A')).toBe('A\nb\n');
    expect(await changed('\t a\nb\n', '@@', '-a', '+A')).toBe('A\nb\n');
    expect(await changed('“it’s” – here\u00a0\n', '@@', `-"it's" - here`, '+A')).toBe('A\n');
  });

  test.each([
    ['upper and lower case', 'A\n', '-a'],
    ['blanks inside a line', 'a  b\n', '-a b'],
    ['Unicode forms', 'e\u0301\n', '-\u00e9'],
    ['dots', 'a…\n', '-a...'],
  ])('%s may not', async (_name, text, line) => {
    await expect(changed(text, '@@', line, '+x')).rejects.toThrow(
      /^Failed to find expected lines in \/w\/f:\n/,
    );
  });

  test('an exact match further down beats a looser one above', async () => {
    expect(await changed(' a\nx\na\n', '@@', '-a', '+A')).toBe(' a\nx\nA\n');
  });

  test('kept lines keep the text of the file', async () => {
    expect(await changed('  a\nb\n', '@@', ' a', '-b', '+B')).toBe('  a\nB\n');
  });

  test('the error shows the lines that were not found', async () => {
    await expect(changed('a\n', '@@', ' x', '-y', '+z')).rejects.toThrow(
      'Failed to find expected lines in /w/f:\nx\ny',
    );
  });

  test('chunks come in the order of the file and do not overlap', async () => {
    expect(await changed('a\nb\na\nb\n', '@@', '-a', '+1', '@@', '-a', '+2')).toBe('1\nb\n2\nb\n');
    await expect(changed('a\nb\n', '@@', '-b', '+B', '@@', '-a', '+A')).rejects.toThrow(
      /Failed to find/,
    );
    await expect(changed('a\nb\nc\n', '@@', '-a', ' b', '@@', ' b', '-c')).rejects.toThrow(
      /Failed to find/,
    );
  });

  test('an anchor is a whole line, and the search continues after it', async () => {
    expect(await changed('x\na\n  y\na\n', '@@ y', '-a', '+A')).toBe('x\na\n  y\nA\n');
    await expect(changed('yes\na\n', '@@ y', '-a')).rejects.toThrow(
      "Failed to find the line 'y' in /w/f",
    );
  });

  test('a chunk with End of File matches only at the end of the file', async () => {
    expect(await changed('a\nb\na\n', '@@', '-a', '+A', '*** End of File')).toBe('a\nb\nA\n');
    await expect(changed('a\nb\n', '@@', '-a', '*** End of File')).rejects.toThrow(
      /Failed to find/,
    );
  });

  test('a chunk that only adds lines adds them at the end of the file, wherever it stands', async () => {
    expect(await changed('a\nb\n', '@@', '+x', '@@', '-a', '+A')).toBe('A\nb\nx\n');
    expect(await changed('a\nb\nc\n', '@@ a', '+x', '@@', '-b', '+B')).toBe('a\nB\nc\nx\n');
    expect(await changed('', '@@', '+x')).toBe('x\n');
  });

  test('very many lines can be added', async () => {
    const lines = Array.from({ length: 200_000 }, () => '+b').join('\n');
    expect(await changed('a\n', '@@', lines)).toBe(`a\n${'b\n'.repeat(200_000)}`);
  });

  test('empty lines that end a chunk need not be in the file', async () => {
    expect(await changed('a\nb', '@@', '-a', '+A', '', '@@', '-b', '+B')).toBe('A\nB\n');
    expect(await changed('a\n\nb\n', '@@', '-a', '+A', '', '+x')).toBe('A\n\nx\nb\n');
    expect(await changed('a\nb\n', '@@', '+x', '')).toBe('a\nb\nx\n');
    await expect(changed('a\nb\n', '@@', '')).rejects.toThrow(/Failed to find/);
  });
});

describe('bytes', () => {
  test('the result ends with a line end, or is empty', async () => {
    expect(await changed('a\nb', '@@', '-a', '+A')).toBe('A\nb\n');
    expect(await changed('a', '@@', ' a', '+b')).toBe('a\nb\n');
    expect(await changed('a\n', '@@', '-a')).toBe('');
  });

  test('new lines get the first line end of the file; kept lines keep theirs', async () => {
    expect(await changed('a\r\nb\nc\r\n', '@@', '-b', '+B')).toBe('a\r\nB\r\nc\r\n');
    expect(await changed('a\nb\r\nc\r\n', '@@', '-a', '+A')).toBe('A\nb\r\nc\r\n');
  });

  test('a CR alone is part of a line', async () => {
    expect(await changed('a\rb\nc\n', '@@', '-c', '+C')).toBe('a\rb\nC\n');
  });

  test('a byte order mark stays, also if the first line changes', async () => {
    expect(await changed('\ufeffa\nb\n', '@@', '-a', '+A')).toBe('\ufeffA\nb\n');
    expect(await changed('\ufeffa\nb\n', '@@', '-\ufeffa', '+\ufeffA')).toBe('\ufeffA\nb\n');
    expect(await changed('\ufeffa\nb\n', '@@', ' a', '-b')).toBe('\ufeffa\n');
  });

  test('NUL is a character like others', async () => {
    expect(await changed('a\0b\n', '@@', '-a\0b', '+\0')).toBe('\0\n');
  });
});

test('a patch between two random files makes the second from the first', {
  tags: 'seeded',
}, async () => {
  const line = fc.constantFrom(
    'a',
    'b',
    ' a',
    'a ',
    '',
    '\t',
    '- x',
    '+',
    '@@',
    '*** End Patch',
    '“q”',
    '"q"',
  );
  const file = fc
    .array(line, { maxLength: 30 })
    .map((lines) => lines.map((text) => `${text}\n`).join(''));
  await fc.assert(
    fc.asyncProperty(file, file, async (before, after) => {
      fc.pre(before !== after);
      // The whole file is context, so there is one place for it.
      const [, , , , ...lines] = createTwoFilesPatch('', '', before, after, '', '', {
        context: 100,
      }).split('\n');
      expect(
        await changed(
          before,
          ...lines.map((text) => (text.startsWith('@@') ? '@@' : text)).slice(0, -1),
        ),
      ).toBe(after);
    }),
    { numRuns: runs(300) },
  );
});

describe('size', () => {
  const many = Array.from(
    { length: 200_000 },
    (_, index) => `line ${index} of a file of some megabytes`,
  );

  test('a change in a file of several megabytes, with a line of one', async () => {
    const long = 'x'.repeat(1024 * 1024);
    const text = `${many.join('\n')}\n${long}\n`;
    expect(await changed(text, '@@', `-${long}`, '+short')).toBe(`${many.join('\n')}\nshort\n`);
  });

  test('ten thousand changes', async () => {
    const chunks = many
      .filter((_, index) => index % 20 === 0)
      .flatMap((text) => ['@@', `-${text}`, '+changed']);
    expect((await changed(`${many.join('\n')}\n`, ...chunks)).match(/^changed$/gm)).toHaveLength(
      10_000,
    );
  });

  test('lines that match partly everywhere take linear time', async () => {
    const text = 'a\n'.repeat(200_000);
    await expect(
      changed(text, '@@', ...Array.from({ length: 100_000 }, () => ' a'), '-b'),
    ).rejects.toThrow(/Failed to find/);
    await expect(
      changed(`${text}b\n`, '@@', ...Array.from({ length: 100_000 }, () => ' a'), '-c', '-b'),
    ).rejects.toThrow(/Failed to find/);
  });

  test('a patch that needs too many comparisons is refused', async () => {
    const chunks = Array.from({ length: 1_100 }, () => ['@@', '-a', '+A']).flat();
    const loose = `a\n${'a \n'.repeat(200_000)}`;
    await expect(changed(loose, ...chunks)).rejects.toThrow(
      'the patch has too many changes for a file of this size',
    );
    const exact = 'a\n'.repeat(200_000);
    expect((await changed(exact, ...chunks)).match(/^A$/gm)).toHaveLength(1_100);
  });
});
