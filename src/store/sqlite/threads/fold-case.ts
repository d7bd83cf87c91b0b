import type { Database } from 'better-sqlite3';

/**
 * Folds the case of a string for searches, in all of Unicode, into a form that SQLite's index can store. Folding two joined
 * strings gives their two folded strings joined, so a part of a string is found in the folded string.
 */
export function foldCase(text: string): string {
  // Lower case first, because some capital letters are not the upper case of any letter. The two lower-case sigmas become one.
  return storable(text).toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('\0', '\ufffd');
}

/** Replaces lone surrogates, which SQLite's text cannot have. */
export function storable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Defines the SQL function `folded(text)` for the triggers. It returns an empty string for null. */
export function defineFolded(db: Database): void {
  db.function('folded', { deterministic: true }, (text) => (text === null ? '' : foldCase(String(text))));
}
