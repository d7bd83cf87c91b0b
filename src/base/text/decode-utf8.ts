import type { EventLoopYield } from '../event-loop-yield.ts';

const PIECE_BYTES = 1024 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/** The text of UTF-8 bytes, including a byte order mark. Lets other work run in between. Rejects with a TypeError if they are not UTF-8. */
export async function decodeUtf8(bytes: Uint8Array, breaks: EventLoopYield): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    parts.push(decoder.decode(piece, { stream: true }));
    await breaks.worked(piece.length / BYTES_A_UNIT);
  }
  parts.push(decoder.decode());
  await breaks.yielded();
  return parts.join('');
}
