/** A piece of a text: outside of the tags, or between an opening and a closing one. */
export interface TagSpan {
  isInside: boolean;
  text: string;
}

interface Tags {
  open: string;
  close: string;
  /**
   * An opening tag counts only before one of these texts or the closing tag, after spaces. Default:
   * always.
   */
  before?: readonly string[];
}

/** How many characters behind an opening tag decide whether it counts. */
const DECIDING_CHARS = 200;

/**
 * Splits a text that comes in pieces at its tags, which may be split between pieces. Text without
 * tags is all outside.
 */
export class TagSplitter {
  readonly #tags: Tags;
  #rest = '';
  #isInside = false;

  constructor(tags: Tags) {
    this.#tags = tags;
  }

  push(piece: string): TagSpan[] {
    this.#rest += piece;
    const spans: TagSpan[] = [];
    for (;;) {
      const tag = this.#isInside ? this.#tags.close : this.#tags.open;
      const at = this.#rest.indexOf(tag);
      const counts = at === -1 ? null : this.#counts(at + tag.length);
      if (counts === null) {
        const keep = at === -1 ? longestTagStart(this.#rest, tag) : this.#rest.length - at;
        this.#emit(spans, this.#rest.slice(0, this.#rest.length - keep));
        this.#rest = this.#rest.slice(this.#rest.length - keep);
        return spans;
      }
      this.#emit(spans, this.#rest.slice(0, counts ? at : at + tag.length));
      this.#rest = this.#rest.slice(at + tag.length);
      if (counts) this.#isInside = !this.#isInside;
    }
  }

  /** Ends the text. Returns what was held back because it could have been the start of a tag. */
  end(): TagSpan[] {
    const spans: TagSpan[] = [];
    this.#emit(spans, this.#rest);
    this.#rest = '';
    return spans;
  }

  /**
   * Whether a tag that ends here is one, and not text about it. Null: the text that decides it has
   * not come yet.
   */
  #counts(end: number): boolean | null {
    const { before, close } = this.#tags;
    if (this.#isInside || before === undefined) return true;
    const text = this.#rest.slice(end, end + DECIDING_CHARS);
    const next = text.trimStart();
    const allowed = [...before, close];
    if (allowed.some((start) => next.startsWith(start))) return true;
    return text.length < DECIDING_CHARS && allowed.some((start) => start.startsWith(next))
      ? null
      : false;
  }

  #emit(spans: TagSpan[], text: string): void {
    if (text !== '') spans.push({ isInside: this.#isInside, text });
  }
}

/** The length of the longest suffix of `text` that is a prefix of `tag`. */
function longestTagStart(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (tag.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
