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

/** A key, and the keys of its table. */
interface KeyNode {
  /** Null: the whole text. */
  range: TextRange | null;
  keys: Map<string, KeyNode>;
}

/** Returns a function that finds keys in a valid TOML text: the range of the key, or of its nearest parent; null: of neither. */
export function keyRanges(text: string): (path: readonly string[]) => TextRange | null {
  const root = new KeyScanner(text).scan();
  return (path) => {
    let node = root;
    for (const key of path) {
      const next = node.keys.get(key);
      if (next === undefined) break;
      node = next;
    }
    return node.range;
  };
}

/** Goes through a TOML text once, and notes where each key is first. */
class KeyScanner {
  readonly #text: string;
  readonly #root: KeyNode = { range: null, keys: new Map() };
  #at = 0;
  #line = 1;
  #lineStart = 0;
  /** The end of the line. */
  #lineEnd: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#endFrom(0);
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
      const isQuoted = /^["']/.test(token);
      const name = isQuoted ? unquoted(token) : token;
      const known = node.keys.get(name);
      const place = isQuoted ? { start: start + 1, length: token.length - 2 } : { start, length: token.length };
      const next = known ?? { range: this.#range(place), keys: new Map() };
      if (known === undefined) node.keys.set(name, next);
      node = next;
    } while (this.#skip('.'));
    return node;
  }

  #range({ start, length }: { start: number; length: number }): TextRange {
    while (this.#lineEnd < start) {
      this.#line++;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#endFrom(this.#lineStart);
    }
    const position = { line: this.#line, column: start - this.#lineStart + 1 };
    return { start: position, end: { ...position, column: position.column + length } };
  }

  #endFrom(start: number): number {
    const end = this.#text.indexOf('\n', start);
    return end === -1 ? this.#text.length : end;
  }

  #value(key: KeyNode): void {
    this.#skipBlank();
    const string = STRINGS.find(([quotes]) => this.#text.startsWith(quotes, this.#at));
    if (string !== undefined) this.#string(...string);
    // Keys of tables in lists have no path.
    else if (this.#skip('[')) this.#elements(']', () => this.#value({ range: null, keys: new Map() }));
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
