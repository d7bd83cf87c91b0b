/**
 * A longer text is stored in pieces of about this length, and passed between threads piece by
 * piece.
 */
export const PIECE_CHARS = 256 * 1024;
/**
 * Marks a text in a stored value that is stored apart: it is followed by the hashes of its pieces.
 */
export const MARK = '\u0000blob:';
const HASHES = /^(?:[0-9a-f]{64})+$/;
const HASH = /[0-9a-f]{64}/g;
/** Between the hashes and the rest. */
const END = '\u0000';

/** A text whose beginning is stored in pieces. `rest`: what follows them. */
export interface TextReference {
  hashes: string[];
  rest: string;
}

/**
 * Stand-ins for long texts in values that pass between the worker of the store and the main
 * thread. They begin with a key that is chosen for a store, so that no text of a client or a model
 * can be mistaken for one.
 */
export class LongTexts {
  readonly #prefix: string;
  /** How many stand-ins were made. */
  made = 0;

  constructor(key: string) {
    this.#prefix = `${MARK}${key}:`;
  }

  standIn(reference: TextReference): string {
    this.made++;
    return this.#prefix + referenceText(reference);
  }

  /** What a text stands for; null: it stands for itself. */
  read(text: string): TextReference | null {
    return text.startsWith(this.#prefix) ? parseReference(text.slice(this.#prefix.length)) : null;
  }
}

export function referenceText({ hashes, rest }: TextReference): string {
  return rest === '' ? hashes.join('') : hashes.join('') + END + rest;
}

/** Returns null if the text is no reference. */
export function parseReference(text: string): TextReference | null {
  const end = text.indexOf(END);
  const hashes = end === -1 ? text : text.slice(0, end);
  return HASHES.test(hashes)
    ? { hashes: splitHashes(hashes), rest: end === -1 ? '' : text.slice(end + 1) }
    : null;
}

/** The hashes in a text that consists of hashes. */
export function splitHashes(hashes: string): string[] {
  return hashes.match(HASH) ?? [];
}
