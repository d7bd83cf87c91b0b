import { inSlices, slicesOf } from './in-slices.ts';

/** Decoded at once: about a millisecond. A multiple of 4. */
const PIECE_CHARS = 1024 * 1024;
/** So many characters count as one unit of work. */
const CHARS_A_UNIT = 500;

/**
 * The bytes of a base64 string. Resolves with null unless the string is strict base64: only A-Z,
 * a-z, 0-9, + and /, padded with = to a multiple of 4 characters. Lets other work run in between.
 */
export async function decodeBase64(text: string): Promise<Buffer | null> {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.allocUnsafe((text.length / 4) * 3 - padding);
  let length = 0;
  const units = (piece: string) => piece.length / CHARS_A_UNIT;
  for await (const piece of inSlices(slicesOf(text, PIECE_CHARS), units)) {
    // Node also takes the characters of URLs, and skips those that are not base64: then there are
    // fewer bytes than the string says.
    if (piece.includes('-') || piece.includes('_')) return null;
    length += bytes.write(piece, length, 'base64');
  }
  return length === bytes.length ? bytes : null;
}
