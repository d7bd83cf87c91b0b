import type { Database } from 'better-sqlite3';

/**
 * A text as searches compare it: without case, in all of Unicode, and as SQLite's index takes it. Of two texts joined it
 * is what it is of each, so a part of a text is a part of what is given back.
 */
export function foldCase(text: string): string {
  // Small first, since the capital of some letters is their own; and a sigma is small in two ways.
  return storable(text).toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('\0', '\ufffd');
}

/** Without lone surrogates, which SQLite's text cannot hold. */
export function storable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Makes `folded(text)` known to SQL, which the triggers need; of null it is empty. */
export function defineFolded(db: Database): void {
  db.function('folded', { deterministic: true }, (text) => (text === null ? '' : foldCase(String(text))));
}
