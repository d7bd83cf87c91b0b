import type { EventLoopYield } from '../event-loop-yield.ts';
import { Utf8Text } from './utf8-text.ts';

const PIECE_BYTES = 1024 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/** The text of bytes, including a byte order mark. Resolves with null if they are not UTF-8. Lets other work run in between. */
export async function decodeUtf8(bytes: Buffer, breaks: EventLoopYield): Promise<string | null> {
  const text = new Utf8Text();
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    text.push(piece);
    await breaks.worked(piece.length / BYTES_A_UNIT);
  }
  return text.take();
}
