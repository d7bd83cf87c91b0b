import { EventLoopYield } from './event-loop-yield.ts';
import { inSlices, joinParts, slicesOf } from './in-slices.ts';

/** Encoded at once: less than a millisecond. A multiple of 3. */
const PIECE_BYTES = 768 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/** The base64 string of bytes. Lets other work run in between. */
export async function encodeBase64(bytes: Buffer): Promise<string> {
  const breaks = new EventLoopYield();
  const parts: string[] = [];
  const units = ({ length }: Buffer) => length / BYTES_A_UNIT;
  for await (const piece of inSlices(slicesOf(bytes, PIECE_BYTES), units, breaks))
    parts.push(piece.toString('base64'));
  return joinParts(parts, breaks);
}
