/** A piece of an answer: reasoning, or text for the user. */
export interface AnswerPiece {
  kind: 'reasoning' | 'text';
  text: string;
}

const OPENING = /^<(think|thinking)>/i;
const OPENINGS = ['<think>', '<thinking>'];
const OPENING_CHARS_MAX = '<thinking>'.length;
const NOT_SPACE = /\S/;

/**
 * Splits the text of an answer into reasoning and text, as it streams: some servers pass on the
 * tags with which models mark their reasoning. Only blocks before the first text are reasoning, and
 * one that is not closed is reasoning to its end; anywhere else, tags are text. The tags are
 * dropped, and so is the space around the reasoning and after a block.
 */
export class ThinkSplitter {
  /** `start`: no text has come yet, so a block may begin. */
  #state: 'start' | 'thinking' | 'text' = 'start';
  /** The closing tag of the open block, in lower case. */
  #closing = '';
  /** Space, and then the characters of a tag that has not come whole. */
  #space: string[] = [];
  #tag = '';
  /** Whether the open block has more than space so far. */
  #hasThought = false;
  /** If so, the space before the text is dropped. */
  #hasBlocks = false;

  /** Whether the answer has begun with a block. */
  get hasBlocks(): boolean {
    return this.#hasBlocks;
  }

  /** Takes the next piece; returns what is decided by then. */
  push(delta: string): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    for (let rest: string | null = delta; rest !== null && rest !== ''; ) {
      if (this.#state === 'text') {
        pieces.push({ kind: 'text', text: rest });
        break;
      }
      rest = this.#state === 'start' ? this.#start(rest, pieces) : this.#think(rest, pieces);
    }
    return pieces;
  }

  /** Ends the answer; returns what was undecided. */
  end(): AnswerPiece[] {
    const left = this.#state === 'thinking' ? this.#tag : this.#leftText();
    const space =
      this.#state === 'thinking' && left !== '' && this.#hasThought ? this.#space.join('') : '';
    const kind = this.#state === 'thinking' ? 'reasoning' : 'text';
    this.#space = [];
    this.#tag = '';
    return left === '' ? [] : [{ kind, text: space + left }];
  }

  /** Looks for a block before any text. Returns what is left to read; null: nothing. */
  #start(delta: string, pieces: AnswerPiece[]): string | null {
    const at = this.#tag === '' ? delta.search(NOT_SPACE) : 0;
    if (at < 0) {
      this.#space.push(delta);
      return null;
    }
    this.#space.push(delta.slice(0, at));
    const text = this.#tag + delta.slice(at);
    const opening = OPENING.exec(text);
    if (opening !== null) {
      this.#state = 'thinking';
      this.#closing = `</${opening[1]?.toLowerCase()}>`;
      this.#space = [];
      this.#tag = '';
      this.#hasThought = false;
      this.#hasBlocks = true;
      return text.slice(opening[0].length);
    }
    if (
      text.length < OPENING_CHARS_MAX &&
      OPENINGS.some((tag) => tag.startsWith(text.toLowerCase()))
    ) {
      this.#tag = text;
      return null;
    }
    this.#state = 'text';
    this.#tag = text;
    pieces.push({ kind: 'text', text: this.#leftText() });
    this.#tag = '';
    return null;
  }

  /** Reads the open block. Returns what is left behind its end; null: it goes on. */
  #think(delta: string, pieces: AnswerPiece[]): string | null {
    const text = this.#tag + delta;
    // Not in a text of small letters, which may be longer.
    const end = text.search(new RegExp(this.#closing, 'i'));
    this.#tag = end < 0 ? tagEnd(text, this.#closing) : '';
    this.#reason(text.slice(0, end < 0 ? text.length - this.#tag.length : end), pieces);
    if (end < 0) return null;
    this.#state = 'start';
    this.#space = [];
    return text.slice(end + this.#closing.length);
  }

  /** Adds reasoning; the space behind it waits until more reasoning comes. */
  #reason(text: string, pieces: AnswerPiece[]): void {
    const thought = text.trimEnd();
    if (thought !== '') {
      const before = this.#hasThought ? this.#space.join('') + thought : thought.trimStart();
      pieces.push({ kind: 'reasoning', text: before });
      this.#space = [];
      this.#hasThought = true;
    }
    if (thought.length < text.length) this.#space.push(text.slice(thought.length));
  }

  #leftText(): string {
    const space = this.#hasBlocks ? '' : this.#space.join('');
    this.#space = [];
    return space + this.#tag;
  }
}

/** The end of a text with which the tag may begin. */
function tagEnd(text: string, tag: string): string {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (tag.startsWith(end.toLowerCase())) return end;
  }
  return '';
}
