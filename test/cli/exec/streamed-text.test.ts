import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harmless, StreamedText } from '../../../src/cli/exec/streamed-text.ts';

/** Characters that mean something only beside others, and some that do not. */
const PARTS = [
  '\u{1f469}',
  '\u200d',
  '\u{1f4bb}',
  '\ufe0f',
  '\u2764',
  '\r',
  '\n',
  '\t',
  '\x1b[2K',
  '\u202e',
  'a',
  'é',
  '\ud83d',
  '\udc69',
  '1',
];

test('a text that streams is shown as it is shown whole, wherever it is cut', () => {
  const text = fc
    .array(fc.constantFrom(...PARTS), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 5 }), { maxLength: 80 }), (whole, lengths) => {
      const stream = new StreamedText();
      let shown = '';
      let from = 0;
      for (const length of lengths) {
        shown += stream.push(whole.slice(from, from + length));
        from += length;
      }
      shown += stream.push(whole.slice(from)) + stream.end();
      expect(shown).toBe(harmless(whole));
    }),
    { numRuns: 300 },
  );
});

test('it is shown at once, apart from the end that may go on', () => {
  const stream = new StreamedText();
  expect(
    ['one ', 'two\u{1f469}', '\u200d', '\u{1f4bb}', '!'].map((delta) => stream.push(delta)),
  ).toEqual(['one ', 'two', '', '', '\u{1f469}\u200d\u{1f4bb}!']);
  // Not even an endless row of them is held back for long.
  expect(stream.push('\u{1f469}'.repeat(1_000)).length).toBeGreaterThan(1_500);
});
