/**
 * The parts of a text, each of at most `chars` UTF-16 code units and one more. Does not cut
 * surrogate pairs.
 */
export function* textPieces(text: string, chars: number): Generator<string, void> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(from + chars, text.length);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
    yield text.slice(from, to);
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
