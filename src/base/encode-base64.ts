import { EventLoopYield } from './event-loop-yield.ts';

/** Encoded at once: less than a millisecond. A multiple of 3. */
const PIECE_BYTES = 768 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/** The base64 string of bytes. Lets other work run in between. */
export async function encodeBase64(bytes: Buffer): Promise<string> {
  const breaks = new EventLoopYield();
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    parts.push(piece.toString('base64'));
    await breaks.worked(piece.length / BYTES_A_UNIT);
  }
  await breaks.yielded();
  return parts.join('');
}
