/**
 * The bytes of a base64 string. Returns null unless the string is strict base64: only A-Z, a-z, 0-9, + and /, padded with = to
 * a multiple of 4 characters.
 */
export function decodeBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  // Node skips characters that are not base64, so the result is shorter than the string says.
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}
