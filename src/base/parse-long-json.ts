import { EventLoopYield } from './event-loop-yield.ts';
import { parsedJson, setMember } from './json-value.ts';

/** A string of this length is parsed at once. */
const PIECE_CHARS = 64 * 1024;
/** So many characters of strings count as one unit of work. */
const CHARS_A_UNIT = 200;
const VALUES_AT_ONCE = 500;
const UNICODE_ESCAPE_CHARS = 6;
const SHORT_ESCAPE_CHARS = 2;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
/** Characters that have to be escaped in a string, and the backslash. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them.
const NOT_PLAIN = /[\\\u0000-\u001f]/;
const BLANKS = /[ \t\n\r]*/y;

/** A list or an object whose end is still to come. */
type Open = { values: unknown[] } | { members: Record<string, unknown>; key: string };

/** Parsed at once: a few milliseconds, even if it has nothing but small values. */
export const SHORT_JSON_CHARS = 128 * 1024;

/**
 * As `parsedJson`, for a text of any length: lets other work run while a long one is parsed.
 * Resolves with undefined if it is not JSON.
 */
export async function parseJson(text: string): Promise<unknown> {
  return text.length <= SHORT_JSON_CHARS ? parsedJson(text) : parseLongJson(text);
}

/**
 * As `parsedJson`, for a long text: lets other work run in between. Resolves with undefined if the
 * text is not JSON.
 */
export async function parseLongJson(text: string): Promise<unknown> {
  try {
    return await new LongJsonReader(text).read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class LongJsonReader {
  readonly #text: string;
  readonly #breaks = new EventLoopYield();
  readonly #open: Open[] = [];
  #at = 0;
  #result: unknown;

  constructor(text: string) {
    this.#text = text;
  }

  async read(): Promise<unknown> {
    // The first look at a text that was put together from parts copies it.
    this.#skipBlanks();
    await this.#breaks.yielded();
    for (let count = 1; this.#result === undefined; count++) {
      if (count % VALUES_AT_ONCE === 0) await this.#breaks.worked(VALUES_AT_ONCE);
      if (!(await this.#begins())) await this.#put(await this.#value());
    }
    if (this.#at < this.#text.length) throw new SyntaxError('expected the end');
    // The caller has much to do with the value.
    await this.#breaks.yielded();
    return this.#result;
  }

  /** Puts a value into its list or object, and ends the ones that end with it. */
  async #put(value: unknown): Promise<void> {
    for (let ended = value; ; ) {
      const inner = this.#open.at(-1);
      if (inner === undefined) {
        this.#result = ended;
        return;
      }
      put(inner, ended);
      if (!(await this.#ends(inner))) return;
      ended = 'values' in inner ? inner.values : inner.members;
    }
  }

  /** Whether a list or an object begins here that is not empty. */
  async #begins(): Promise<boolean> {
    const mark = this.#text[this.#at];
    if (mark !== '[' && mark !== '{') return false;
    const start = this.#at++;
    this.#skipBlanks();
    if (this.#text[this.#at] === (mark === '[' ? ']' : '}')) {
      this.#at = start;
      return false;
    }
    this.#open.push(mark === '[' ? { values: [] } : { members: {}, key: await this.#key() });
    return true;
  }

  /** Goes on behind a value. Returns whether its list or object ends there. */
  async #ends(inner: Open): Promise<boolean> {
    const mark = this.#text[this.#at++];
    this.#skipBlanks();
    if (mark === ',') {
      if ('members' in inner) inner.key = await this.#key();
      return false;
    }
    if (mark !== ('values' in inner ? ']' : '}'))
      throw new SyntaxError('expected a comma or the end');
    this.#open.pop();
    return true;
  }

  async #key(): Promise<string> {
    const key = await this.#string();
    if (this.#text[this.#at++] !== ':') throw new SyntaxError('expected a colon');
    this.#skipBlanks();
    return key;
  }

  /** A string, a scalar, or an empty list or object. */
  async #value(): Promise<unknown> {
    const mark = this.#text[this.#at];
    if (mark === '"') return this.#string();
    if (mark === '[' || mark === '{') {
      this.#at++;
      this.#skipBlanks();
      this.#at++;
      this.#skipBlanks();
      return mark === '[' ? [] : {};
    }
    SCALAR.lastIndex = this.#at;
    const [scalar] = SCALAR.exec(this.#text) ?? [];
    if (scalar === undefined) throw new SyntaxError('expected a value');
    this.#at += scalar.length;
    this.#skipBlanks();
    return JSON.parse(scalar);
  }

  async #string(): Promise<string> {
    const from = this.#at;
    if (this.#text[from] !== '"') throw new SyntaxError('expected a string');
    const end = await this.#stringEnd(from + 1);
    this.#at = end + 1;
    this.#skipBlanks();
    if (end - from < PIECE_CHARS) return JSON.parse(this.#text.slice(from, end + 1)) as string;
    const parts: string[] = [];
    let isPlain = true;
    for (let at = from + 1, to = 0; at < end; at = to) {
      to = this.#cut(Math.min(at + PIECE_CHARS, end));
      const part = this.#text.slice(at, to);
      const isPlainPart = !NOT_PLAIN.test(part);
      parts.push(isPlainPart ? part : (JSON.parse(`"${part}"`) as string));
      isPlain &&= isPlainPart;
      await this.#breaks.worked((to - at) / CHARS_A_UNIT);
    }
    // A slice takes no memory of its own.
    return isPlain ? this.#text.slice(from + 1, end) : parts.join('');
  }

  /** The place of the quote that ends a string. */
  async #stringEnd(from: number): Promise<number> {
    let quotes = 0;
    for (
      let end = this.#text.indexOf('"', from);
      end !== -1;
      end = this.#text.indexOf('"', end + 1)
    ) {
      if (this.#backslashes(end) % 2 === 0) return end;
      if (++quotes % VALUES_AT_ONCE === 0) await this.#breaks.worked(VALUES_AT_ONCE / 10);
    }
    throw new SyntaxError('a string has no end');
  }

  /** The number of backslashes directly before a place. */
  #backslashes(at: number): number {
    let first = at;
    while (this.#text[first - 1] === '\\') first--;
    return at - first;
  }

  /** A place at `to` or a little before it in a string, where no escape sequence is cut. */
  #cut(to: number): number {
    const slash =
      to - UNICODE_ESCAPE_CHARS + this.#text.slice(to - UNICODE_ESCAPE_CHARS, to).lastIndexOf('\\');
    if (slash < to - UNICODE_ESCAPE_CHARS || this.#backslashes(slash) % 2 === 1) return to;
    const length = this.#text[slash + 1] === 'u' ? UNICODE_ESCAPE_CHARS : SHORT_ESCAPE_CHARS;
    return slash + length > to ? slash : to;
  }

  #skipBlanks(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return;
    BLANKS.lastIndex = this.#at;
    this.#at += BLANKS.exec(this.#text)?.[0].length ?? 0;
  }
}

function put(inner: Open, value: unknown): void {
  if ('values' in inner) inner.values.push(value);
  else setMember(inner.members, inner.key, value);
}
