/**
 * Folds the case of a string for searches, in all of Unicode, into a form that any text column can
 * store. Folding two joined strings gives their two folded strings joined, so a part of a string is
 * found in the folded string.
 */
export function foldCase(text: string): string {
  // Lower case first, because some capital letters are not the upper case of any letter. The two
  // lower-case sigmas become one.
  return storable(text)
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('\0', '\ufffd');
}

/** Replaces lone surrogates, which a text column cannot have. */
export function storable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
