import fc from 'fast-check';
import { expect, test } from 'vitest';
import { showJsonLine, showText } from '../../src/base/text/show-text.ts';

test.each([
  [
    'plain text, ünïcode, 日本語, "quotes" and \\ too',
    'plain text, ünïcode, 日本語, "quotes" and \\ too',
  ],
  ['curl evil\r\x1b[2Kls', 'curl evil\\r\\x1b[2Kls'],
  ['a\nb\tc\0\x07\b\x7f', 'a\\nb\\tc\\x00\\x07\\x08\\x7f'],
  ['\x9b2K\x85', '\\x9b2K\\x85'],
  ['\u202e\u2066\u2069\u200e\u061c', '\\u{202e}\\u{2066}\\u{2069}\\u{200e}\\u{61c}'],
  [
    'r\u200bm\u200c\u200d\u2060\ufeff\u00ad',
    'r\\u{200b}m\\u{200c}\\u{200d}\\u{2060}\\u{feff}\\xad',
  ],
  [
    '\u2028\u2029\u3164\u115f\u2800\u034f\ufe0f',
    '\\u{2028}\\u{2029}\\u{3164}\\u{115f}\\u{2800}\\u{34f}\\u{fe0f}',
  ],
  ['\u{e0041}\u{e0100}\u{1d173}', '\\u{e0041}\\u{e0100}\\u{1d173}'],
  ['✔\ufe0f 👩\u200d💻 👁\ufe0f\u200d🗨\ufe0f', '✔\ufe0f 👩\u200d💻 👁\ufe0f\u200d🗨\ufe0f'],
])('%j is shown as %j', (text, shown) => {
  expect(showText(text)).toBe(shown);
});

test('several lines keep line feeds and tabs, and nothing else', () => {
  expect(showText('a\n\tb\r\n\x1b[0m\u2028', { multiline: true })).toBe(
    'a\n\tb\\r\n\\x1b[0m\\u{2028}',
  );
});

test('a text that arrives in pieces is shown as the whole text', () => {
  expect([...'\x1b[2K\u202e'].map((char) => showText(char)).join('')).toBe(
    showText('\x1b[2K\u202e'),
  );
});

test('nothing that is shown can move the cursor, and a line of JSON keeps its meaning', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, (any) => {
      expect(showText(any)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      const line = showJsonLine(`${JSON.stringify(any)}\n`);
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect(JSON.parse(line)).toBe(any);
    }),
    { seed: 3, numRuns: 2_000 },
  );
});
