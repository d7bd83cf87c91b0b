import type { EventLoopYield } from '../event-loop-yield.ts';
import { inSlices, slicesOf } from '../in-slices.ts';
import { Utf8Text } from './utf8-text.ts';

const PIECE_BYTES = 512 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/**
 * The text of bytes, including a byte order mark. Resolves with null if they are not UTF-8. Lets
 * other work run in between.
 */
export async function decodeUtf8(bytes: Buffer, breaks: EventLoopYield): Promise<string | null> {
  const text = new Utf8Text();
  for await (const piece of inSlices(slicesOf(bytes, PIECE_BYTES), units, breaks)) text.push(piece);
  return text.take();
}

/**
 * The text of bytes that come in parts, without a byte order mark removed. Bytes that are not UTF-8
 * become U+FFFD. `isCut`: leaves out a last character whose end is missing. Lets other work run in
 * between.
 */
export async function decodeAnyBytes(
  parts: readonly Buffer[],
  { isCut }: { isCut: boolean },
  breaks: EventLoopYield,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for (const part of parts)
    for await (const piece of inSlices(slicesOf(part, PIECE_BYTES), units, breaks))
      text += decoder.decode(piece, { stream: true });
  return isCut ? text : text + decoder.decode();
}

function units({ length }: Buffer): number {
  return length / BYTES_A_UNIT;
}
