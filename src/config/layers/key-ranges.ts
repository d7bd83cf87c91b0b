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

/** Returns a function that finds keys in a valid TOML text: the range of the key, or of its nearest parent; null: of neither. */
export function keyRanges(text: string): (path: readonly string[]) => TextRange | null {
  const ranges = new KeyScanner(text).scan();
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const range = ranges.get(nameOf(path.slice(0, length)));
      if (range !== undefined) return range;
    }
    return null;
  };
}

function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** Goes through a TOML text once, and notes where each key is first. */
class KeyScanner {
  readonly #text: string;
  readonly #ranges = new Map<string, TextRange>();
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Stops where the text is not valid. */
  scan(): ReadonlyMap<string, TextRange> {
    let table: readonly string[] = [];
    while (this.#skipBlank() < this.#text.length) {
      const start = this.#at;
      if (this.#skip('[')) {
        this.#skip('[');
        table = this.#dottedKey([]);
        while (this.#skip(']'));
      } else this.#keyAndValue(table);
      if (this.#at === start) break;
    }
    return this.#ranges;
  }

  #keyAndValue(table: readonly string[] | null): void {
    const path = this.#dottedKey(table);
    if (this.#skip('=')) this.#value(path);
  }

  /** Notes the key, and returns its path. `table`: that of its table. Null: keys of tables in lists have no path. */
  #dottedKey(table: readonly string[]): readonly string[];
  #dottedKey(table: readonly string[] | null): readonly string[] | null;
  #dottedKey(table: readonly string[] | null): readonly string[] | null {
    let path = table;
    do {
      KEY.lastIndex = this.#at;
      const [whole = '', token = ''] = KEY.exec(this.#text) ?? [];
      if (token === '') return path;
      const start = this.#at + whole.indexOf(token);
      this.#at += whole.length;
      if (path === null) continue;
      const quotes = /^["']/.test(token) ? 1 : 0;
      path = [...path, quotes === 1 ? unquoted(token) : token];
      this.#note(path, { start: start + quotes, length: token.length - 2 * quotes });
    } while (this.#skip('.'));
    return path;
  }

  #note(path: readonly string[], { start, length }: { start: number; length: number }): void {
    const name = nameOf(path);
    if (this.#ranges.has(name)) return;
    for (let end = this.#text.indexOf('\n', this.#lineStart); end !== -1 && end < start; end = this.#text.indexOf('\n', end + 1)) {
      this.#line++;
      this.#lineStart = end + 1;
    }
    const position = { line: this.#line, column: start - this.#lineStart + 1 };
    this.#ranges.set(name, { start: position, end: { ...position, column: position.column + length } });
  }

  #value(path: readonly string[] | null): void {
    this.#skipBlank();
    const string = STRINGS.find(([quotes]) => this.#text.startsWith(quotes, this.#at));
    if (string !== undefined) this.#string(...string);
    else if (this.#skip('[')) this.#elements(']', () => this.#value(null));
    else if (this.#skip('{')) this.#elements('}', () => this.#keyAndValue(path));
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
