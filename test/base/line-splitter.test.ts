import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineSplitter } from '../../src/base/text/line-splitter.ts';
import { LINE_BYTES_MAX } from '../../src/protocol/line-bytes-max.ts';

/**
 * The lines that a splitter makes of these chunks, and in angle brackets the reasons for skipped
 * ones.
 */
function split(...chunks: (Buffer | string)[]): string[] {
  const out: string[] = [];
  const splitter = new LineSplitter(
    (line) => out.push(line),
    (reason) => out.push(`<${reason}>`),
    LINE_BYTES_MAX,
  );
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return out;
}

const bad = Buffer.from([0x61, 0xff, 0x62]);

test('a line with characters of every length, split at every byte', () => {
  const text = 'aé€🧵"\\u0000';
  const bytes = Buffer.from(`${text}\n${text}\n`);
  for (let at = 0; at <= bytes.length; at++)
    expect(split(bytes.subarray(0, at), bytes.subarray(at))).toEqual([text, text]);
  expect(split(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual([text, text]);
});

test('only LF ends a line: a CR before it stays, and other line ends are text', () => {
  expect(split('a\r\nb\rc\u2028d\u0085e\n')).toEqual(['a\r', 'b\rc\u2028d\u0085e']);
});

test('the bytes after the last LF are a line when the input has ended', () => {
  expect(split('a\nb')).toEqual(['a', 'b']);
  expect(split('a\n')).toEqual(['a']);
  expect(split('')).toEqual([]);
});

test('blank lines are empty strings, or not reported', () => {
  expect(split('\n\na\n\r\n').filter((line) => line.trim() !== '')).toEqual(['a']);
});

test('a line that is not UTF-8 is skipped alone', () => {
  expect(split(Buffer.concat([Buffer.from('a\n'), bad, Buffer.from('\nb\n')]))).toEqual([
    'a',
    '<not_utf8>',
    'b',
  ]);
  const cut = Buffer.from('€').subarray(0, 2);
  expect(split(cut, '\n', 'b\n')).toEqual(['<not_utf8>', 'b']);
  expect(split(Buffer.from([0xed, 0xa0, 0x80, 0x0a]), 'b\n')).toEqual(['<not_utf8>', 'b']);
});

describe('a line that is too long', () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'x');
  const full = Array.from({ length: LINE_BYTES_MAX / mebibyte.length }, () => mebibyte);

  test('is skipped alone, and reported once, however long it is', () => {
    const out: string[] = [];
    const splitter = new LineSplitter(
      (line) => out.push(line),
      (reason) => out.push(`<${reason}>`),
      LINE_BYTES_MAX,
    );
    splitter.push(Buffer.from('a\n'));
    for (let count = 0; count < 3; count++) for (const chunk of full) splitter.push(chunk);
    splitter.push(Buffer.from('x\nb\n'));
    expect(out).toEqual(['a', '<too_long>', 'b']);
  });

  test('has at least one byte more than the limit', () => {
    const lengths = (chunks: Buffer[]) =>
      split(...chunks).map((line) => (line.startsWith('<') ? line : line.length));
    expect(lengths([...full, Buffer.from('\n')])).toEqual([LINE_BYTES_MAX]);
    expect(lengths([...full, Buffer.from('x\nb\n')])).toEqual(['<too_long>', 1]);
  });
});

test('lines are the same however they are split into chunks', () => {
  const line = fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .map((value) => value.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((value) => `${value}\n`).join(''));
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      const expected = lines.map((value) => Buffer.from(value).toString());
      expect(split(...chunks).filter((value) => value !== '')).toEqual(
        expected.filter((value) => value !== ''),
      );
    }),
    { numRuns: 200 },
  );
});
