import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LINE_BYTES_MAX } from '../../src/protocol/line-bytes-max.ts';
import { ContentLengthSplitter } from '../../src/transport/content-length-splitter.ts';
import { createSplitter, frame } from '../../src/transport/framing.ts';

/**
 * The messages that a splitter makes of these chunks, and in angle brackets the reasons for skipped
 * ones.
 */
function split(...chunks: (Buffer | string)[]): string[] {
  const out: string[] = [];
  const splitter = new ContentLengthSplitter(
    (text) => out.push(text),
    (reason) => out.push(`<${reason}>`),
  );
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return out;
}

test('a message with characters of every length, split at every byte', () => {
  const text = '{"a":"é€🧵\\n"}';
  const bytes = Buffer.from(frame('content-length', [text, text]));
  for (let at = 0; at <= bytes.length; at++)
    expect(split(bytes.subarray(0, at), bytes.subarray(at))).toEqual([text, text]);
  expect(split(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual([text, text]);
});

test.each([
  [
    'another header beside it, and another spelling',
    'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:2\r\n\r\n{}',
  ],
  ['line ends without CR', 'Content-Length: 2\n\n{}'],
  ['blank lines before the header', '\r\n\r\nContent-Length: 2\r\n\r\n{}'],
  ['spaces around the length', 'Content-Length: \t2 \r\n\r\n{}'],
])('%s', (_name, bytes) => {
  expect(split(bytes)).toEqual(['{}']);
});

test('a header without a length is skipped, and the next message is read', () => {
  const next = frame('content-length', ['{}']);
  expect(split(`Content-Type: text/plain\r\n\r\n${next}`)).toEqual(['<no_content_length>', '{}']);
  expect(split(`Content-Length: many\r\n\r\n${next}`)).toEqual(['<no_content_length>', '{}']);
  expect(split(`${'x'.repeat(100_000)}: y\r\n\r\n${next}`)).toEqual(['<no_content_length>', '{}']);
  expect(split(`Content-Length: 0\r\n\r\n${next}`)).toEqual(['{}']);
});

test('only the message itself is skipped if it is not UTF-8 or too long', () => {
  const next = frame('content-length', ['{}']);
  expect(split('Content-Length: 1\r\n\r\n', Buffer.from([0xff]), next)).toEqual([
    '<not_utf8>',
    '{}',
  ]);
  const mebibyte = Buffer.alloc(1024 * 1024, 'x');
  const body = Array.from({ length: LINE_BYTES_MAX / mebibyte.length }, () => mebibyte);
  expect(split(`Content-Length: ${LINE_BYTES_MAX + 1}\r\n\r\n`, ...body, 'x', next)).toEqual([
    '<too_long>',
    '{}',
  ]);
  expect(
    split(`Content-Length: ${LINE_BYTES_MAX}\r\n\r\n`, ...body).map(({ length }) => length),
  ).toEqual([LINE_BYTES_MAX]);
});

test('an incomplete message at the end is reported as skipped', () => {
  expect(split('Content-Length: 5\r\n\r\n{}')).toEqual(['<cut_off>']);
  expect(split('Content-Length: 5\r\n')).toEqual(['<cut_off>']);
  expect(split('Content-Length: 5')).toEqual(['<cut_off>']);
  expect(split('Content-Ty')).toEqual(['<no_content_length>']);
  expect(split(`Content-Length: ${LINE_BYTES_MAX + 1}\r\n\r\n{}`)).toEqual(['<too_long>']);
  expect(split('Content-Length: 2\r\n\r\n{}\r\n\r\n')).toEqual(['{}']);
});

test('each message that comes as a line, without a header, is reported when the line ends', () => {
  const out: string[] = [];
  const splitter = new ContentLengthSplitter(expect.unreachable, (reason) => out.push(reason));
  splitter.push(Buffer.from('{"id":1}\n{"id":2}\n\n{"id":'));
  expect(out).toEqual(['no_content_length', 'no_content_length']);
  splitter.end();
  expect(out).toEqual(['no_content_length', 'no_content_length', 'no_content_length']);
});

test('the splitter of each framing reads what the framing writes, however it is split', () => {
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 8 });
  const texts = fc
    .array(fc.string({ unit: 'grapheme' }), { maxLength: 6 })
    .map((list) => list.map((text) => JSON.stringify([text])));
  fc.assert(
    fc.property(
      fc.constantFrom('lines' as const, 'content-length' as const),
      texts,
      cuts,
      (framing, messages, places) => {
        const out: string[] = [];
        const splitter = createSplitter(framing, (text) => out.push(text), expect.unreachable);
        const bytes = Buffer.from(frame(framing, messages));
        const ends = [...places.filter((place) => place < bytes.length), bytes.length].sort(
          (a, b) => a - b,
        );
        for (const [index, end] of ends.entries())
          splitter.push(bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
        splitter.end();
        expect(out.filter((text) => text !== '')).toEqual(messages);
      },
    ),
  );
});
