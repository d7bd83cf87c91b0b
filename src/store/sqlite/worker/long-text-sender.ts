import { EventLoopYield } from '../../../base/event-loop-yield.ts';
import { inSlices } from '../../../base/in-slices.ts';
import { mapStrings, walkJson } from '../../../base/json-value.ts';
import { jsonWeight } from '../../../base/text/json-pieces.ts';
import { textPieces } from '../../../base/text/text-pieces.ts';
import { type LongTexts, PIECE_CHARS } from '../history/long-texts.ts';

interface KeptPiece {
  piece: string;
  hash: string;
}

/**
 * Replaces the long texts of values by stand-ins, once their pieces are stored. The same text, or
 * one that has grown, is often sent again: pieces that it had the last time are not stored again.
 */
export class LongTextSender {
  readonly #texts: LongTexts;
  readonly #keep: (piece: string) => Promise<string>;
  readonly #breaks = new EventLoopYield();
  #kept: KeptPiece[] = [];

  /** `keep` stores a piece and resolves with its hash. */
  constructor(texts: LongTexts, keep: (piece: string) => Promise<string>) {
    this.#texts = texts;
    this.#keep = keep;
  }

  /**
   * `isGrowing`: a text will be sent again when it is longer, so its last piece is left in the
   * stand-in. Rejects as `keep` does.
   */
  async send<T>(value: T, { isGrowing = false } = {}): Promise<T> {
    if (jsonWeight(value, PIECE_CHARS) <= PIECE_CHARS) return value;
    const standIns = new Map<string, string>();
    for (const text of longTextsIn(value)) standIns.set(text, await this.#standIn(text, isGrowing));
    return standIns.size === 0 ? value : mapStrings(value, (text) => standIns.get(text) ?? text);
  }

  /** Does not rely on pieces that were stored before. */
  forget(): void {
    this.#kept = [];
  }

  async #standIn(text: string, isGrowing: boolean): Promise<string> {
    const pieces = [...textPieces(text, PIECE_CHARS)];
    const rest = isGrowing ? (pieces.pop() ?? '') : '';
    const hashes: string[] = [];
    for await (const [index, piece] of inSlices(pieces.entries(), 1, this.#breaks)) {
      const kept = this.#kept[index];
      const hash = kept?.piece === piece ? kept.hash : await this.#keep(piece);
      // The new piece, so that the text that it was cut from before can be forgotten.
      this.#kept[index] = { piece, hash };
      hashes.push(hash);
    }
    return this.#texts.standIn({ hashes, rest });
  }
}

/**
 * Replaces the stand-ins of a value by the texts that they stand for. Resolves with null if a piece
 * is gone.
 */
export async function wholeTexts(
  value: unknown,
  texts: LongTexts,
  readPiece: (hash: string) => Promise<string | null>,
): Promise<{ value: unknown } | null> {
  const found = new Map<string, string>();
  for (const text of longTextsIn(value, 0)) {
    const reference = texts.read(text);
    if (reference === null) continue;
    const pieces: string[] = [];
    for (let first = 0; first < reference.hashes.length; first += READ_TOGETHER) {
      const read = await Promise.all(
        reference.hashes.slice(first, first + READ_TOGETHER).map(readPiece),
      );
      const whole = read.filter((piece) => piece !== null);
      if (whole.length < read.length) return null;
      pieces.push(...whole);
    }
    found.set(text, pieces.join('') + reference.rest);
  }
  return { value: mapStrings(value, (text) => found.get(text) ?? text) };
}

const READ_TOGETHER = 4;

/** The strings in a value that are longer than `min`. */
function longTextsIn(value: unknown, min = PIECE_CHARS): Set<string> {
  const found = new Set<string>();
  walkJson(value, (part) => {
    if (typeof part === 'string' && part.length > min) found.add(part);
    return true;
  });
  return found;
}
