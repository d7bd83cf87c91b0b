export type RuleValue = string | RuleValue[];

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: '\x07',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
    v: '\v',
    '\\': '\\',
    '"': '"',
    "'": "'",
  }),
);
const BLANK = /(?:\s|#[^\n]*)*/y;
const NAME = /[A-Za-z_]\w*/y;
const STRING = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/y;
const NEXT_CALL = /\n(?=[A-Za-z_]\w*\s*\()/g;
const LIST_DEPTH_MAX = 8;

/**
 * Reads calls such as `name(key = ["text"], …)`, one after the other. Throws a SyntaxError if a
 * call is invalid.
 */
export class RuleReader {
  readonly #text: string;
  #at = 0;
  /** A place, and the number of the line that it is in. */
  #counted = { at: 0, line: 1 };

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#take(BLANK);
    return this.#at >= this.#text.length;
  }

  /** The current line. Counts from 1. */
  get line(): number {
    for (let end = this.#lineEnd; end !== -1 && end < this.#at; end = this.#lineEnd) {
      this.#counted = { at: end + 1, line: this.#counted.line + 1 };
    }
    return this.#counted.line;
  }

  readCall(): { name: string; args: ReadonlyMap<string, RuleValue> } {
    const name = this.#take(NAME)?.[0];
    if (name === undefined) throw this.#unexpected('a rule');
    this.#expect('(');
    const args = new Map<string, RuleValue>();
    while (!this.#accept(')')) {
      const key = this.#take(NAME)?.[0];
      if (key === undefined) throw this.#unexpected('the name of an argument');
      if (args.has(key)) throw new SyntaxError(`${key} is given twice`);
      this.#expect('=');
      args.set(key, this.#value(0));
      if (!this.#accept(',') && !this.#sees(')')) throw this.#unexpected('a comma or )');
    }
    return { name, args };
  }

  /** Skips an invalid call: moves to the next line that begins with a call. */
  skipToNextCall(): void {
    // The end of the line may have been read already, but nothing after it.
    NEXT_CALL.lastIndex = Math.max(0, this.#at - 1);
    const next = NEXT_CALL.exec(this.#text);
    this.#at = next === null ? this.#text.length : next.index + 1;
  }

  /** The end of the line that was counted last. */
  get #lineEnd(): number {
    return this.#text.indexOf('\n', this.#counted.at);
  }

  #value(depth: number): RuleValue {
    if (!this.#accept('[')) return this.#string();
    if (depth >= LIST_DEPTH_MAX) throw new SyntaxError('lists are nested too deeply');
    const values: RuleValue[] = [];
    while (!this.#accept(']')) {
      values.push(this.#value(depth + 1));
      if (!this.#accept(',') && !this.#sees(']')) throw this.#unexpected('a comma or ]');
    }
    return values;
  }

  #string(): string {
    const found = this.#take(STRING);
    if (found === null) throw this.#unexpected('a string or a list');
    return (found[1] ?? found[2] ?? '').replace(
      /\\(?:u([\da-fA-F]{4})|x([0-7][\da-fA-F])|(.))/gs,
      (escaped: string, ...groups: (string | undefined)[]) => {
        const [unicode, hex, char = ''] = groups;
        const code = unicode ?? hex;
        const meant =
          code === undefined ? ESCAPES.get(char) : String.fromCharCode(Number.parseInt(code, 16));
        if (meant === undefined)
          throw new SyntaxError(`${escaped} is not a valid escape in a string`);
        return meant;
      },
    );
  }

  #expect(char: string): void {
    if (!this.#accept(char)) throw this.#unexpected(char);
  }

  #accept(char: string): boolean {
    if (!this.#sees(char)) return false;
    this.#at += char.length;
    this.#take(BLANK);
    return true;
  }

  #sees(char: string): boolean {
    return this.#text.startsWith(char, this.#at);
  }

  /**
   * Matches the expression here, and skips the whitespace and comments after it. Returns null if it
   * does not match.
   */
  #take(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text);
    if (found === null) return null;
    this.#at = what.lastIndex;
    BLANK.lastIndex = this.#at;
    if (BLANK.test(this.#text)) this.#at = BLANK.lastIndex;
    return found;
  }

  #unexpected(expected: string): SyntaxError {
    const [found = ''] = /^\S{1,20}/.exec(this.#text.slice(this.#at)) ?? [];
    return new SyntaxError(
      `expected ${expected}, found ${found === '' ? 'the end of the file' : JSON.stringify(found)}`,
    );
  }
}
