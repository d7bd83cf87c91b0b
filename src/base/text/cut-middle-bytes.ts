/**
 * Cuts the middle out of a text that is longer than `bytesMax` in UTF-8. `note` stands in its
 * place. Of a long text only what stays is read.
 */
export function cutMiddleBytes(
  text: string,
  bytesMax: number,
  note: (charsLeftOut: number) => string,
): string {
  if (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax) return text;
  // No character has fewer bytes than UTF-16 units, so these parts are long enough.
  const start = unitsWithin(text.slice(0, bytesMax), bytesMax / 2);
  const end = unitsWithin([...text.slice(-bytesMax)].reverse(), bytesMax / 2);
  return text.slice(0, start) + note(text.length - start - end) + text.slice(text.length - end);
}

/** How many UTF-16 units the first characters have that fit into so many bytes. */
function unitsWithin(characters: Iterable<string>, bytesMax: number): number {
  let units = 0;
  let bytes = 0;
  for (const character of characters) {
    bytes += bytesOf(character);
    if (bytes > bytesMax) break;
    units += character.length;
  }
  return units;
}

function bytesOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
