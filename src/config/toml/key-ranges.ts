import type { TextRange } from '../../protocol/generated/types.ts';

/** Spaces, ends of lines and comments. */
const BLANK = /(?:[ \t\r\n]+|#[^\n]*)*/y;
/** A part of a dotted key. */
const KEY = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s.=[\]{},#"']+)[ \t]*/y;
/** The ends of strings that begin with these quotes, and escapes, in which there is none. */
const STRINGS: readonly (readonly [quotes: string, end: RegExp])[] = [
  ['"""', /\\[\s\S]|"""+/g],
  ["'''", /'''+/g],
  ['"', /\\[\s\S]|"/g],
  ["'", /'/g],
];
/** Numbers, dates, times and booleans. */
const PLAIN = /[^,\]}\n#]*/y;

/** A key, at an index of the text, and the keys of its table. Null: there are none yet. */
interface KeyNode {
  start: number;
  length: number;
  keys: Map<string, KeyNode> | null;
}

/**
 * Returns a function that finds keys in a valid TOML text: the range of the key, or of its nearest
 * parent; null: of neither.
 */
export function keyRanges(text: string): (path: readonly string[]) => TextRange | null {
  const root = new KeyScanner(text).scan();
  return (path) => {
    let node = root;
    for (const key of path) {
      const next = node.keys?.get(key);
      if (next === undefined) break;
      node = next;
    }
    return node === root ? null : rangeIn(text, node);
  };
}

function rangeIn(text: string, { start, length }: KeyNode): TextRange {
  let line = 1;
  let lineStart = 0;
  for (
    let end = text.indexOf('\n');
    end !== -1 && end < start;
    end = text.indexOf('\n', lineStart)
  ) {
    line++;
    lineStart = end + 1;
  }
  const position = { line, column: start - lineStart + 1 };
  return { start: position, end: { ...position, column: position.column + length } };
}

/** Goes through a TOML text once, and notes where each key is first. */
class KeyScanner {
  readonly #text: string;
  readonly #root: KeyNode = { start: 0, length: 0, keys: null };
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Stops where the text is not valid. */
  scan(): KeyNode {
    let table = this.#root;
    while (this.#skipBlank() < this.#text.length) {
      const start = this.#at;
      if (this.#skip('[')) {
        this.#skip('[');
        table = this.#dottedKey(this.#root);
        this.#skip(']');
        this.#skip(']');
      } else this.#keyAndValue(table);
      if (this.#at === start) break;
    }
    return this.#root;
  }

  #keyAndValue(table: KeyNode): void {
    const key = this.#dottedKey(table);
    if (this.#skip('=')) this.#value(key);
  }

  /** Notes the key in its table. */
  #dottedKey(table: KeyNode): KeyNode {
    let node = table;
    do {
      KEY.lastIndex = this.#at;
      const [whole = '', token = ''] = KEY.exec(this.#text) ?? [];
      if (token === '') return node;
      const start = this.#at + whole.indexOf(token);
      this.#at += whole.length;
      const isQuoted = token.startsWith('"') || token.startsWith("'");
      const name = isQuoted ? unquoted(token) : token;
      node.keys ??= new Map();
      let next = node.keys.get(name);
      if (next === undefined) {
        next = isQuoted
          ? { start: start + 1, length: token.length - 2, keys: null }
          : { start, length: token.length, keys: null };
        node.keys.set(name, next);
      }
      node = next;
    } while (this.#skip('.'));
    return node;
  }

  #value(key: KeyNode): void {
    this.#skipBlank();
    const string = STRINGS.find(([quotes]) => this.#text.startsWith(quotes, this.#at));
    if (string !== undefined) this.#string(...string);
    // Keys of tables in lists have no path.
    else if (this.#skip('['))
      this.#elements(']', () => this.#value({ start: 0, length: 0, keys: null }));
    else if (this.#skip('{')) this.#elements('}', () => this.#keyAndValue(key));
    else this.#match(PLAIN);
  }

  #elements(end: string, element: () => void): void {
    while (this.#skipBlank() < this.#text.length && !this.#skip(end)) {
      const start = this.#at;
      element();
      this.#skipBlank();
      this.#skip(',');
      if (this.#at === start) return;
    }
  }

  #string(quotes: string, end: RegExp): void {
    end.lastIndex = this.#at + quotes.length;
    let found = end.exec(this.#text);
    while (found?.[0].startsWith('\\')) found = end.exec(this.#text);
    this.#at = found === null ? this.#text.length : end.lastIndex;
  }

  #skip(char: string): boolean {
    const isThere = this.#text[this.#at] === char;
    if (isThere) this.#at++;
    return isThere;
  }

  #skipBlank(): number {
    return this.#match(BLANK);
  }

  #match(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
    return this.#at;
  }
}

/** The key that a quoted one stands for. */
function unquoted(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    // TOML has more escapes than JSON: such a key is not found.
    return token.slice(1, -1);
  }
}
