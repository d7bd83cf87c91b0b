/** A part of a name: a character, any character, any text, or a character of a set. */
export type NameToken =
  | { kind: 'char'; char: string }
  | { kind: 'any' }
  | { kind: 'star' }
  | { kind: 'set'; negated: boolean; ranges: readonly (readonly [string, string])[] };

/**
 * The pattern of one name of a path, or `**`: any number of names, and at the end of a pattern at
 * least one.
 */
export type NamePattern = '**' | readonly NameToken[];

/** The patterns of the names of a path below a folder, from the top. */
export type PathPattern = readonly NamePattern[];

/**
 * The positions in a pattern that the names of a path so far can have reached, in ascending order.
 */
export type Positions = readonly number[];

type Token = NameToken | { kind: 'slash' };

const PATTERN_CHARS_MAX = 2_000;
/** The most patterns that the alternatives of one pattern can make. */
const ALTERNATIVES_MAX = 200;

/**
 * Whether a path contains a character that makes it a pattern. Braces alone do so only around
 * alternatives.
 */
export function isPattern(path: string): boolean {
  return /[*?[\]]|\{[^{}]*,/.test(path);
}

/** The pattern that only a text itself matches. */
export function literalPattern(text: string): string {
  return text.replace(/[*?[\]{}\\]/g, '\\$&');
}

/**
 * Parses a pattern of paths below a folder, with the syntax of Rust's globset, which codex uses:
 * `*` and `?` within a name, `**` for any number of names, `[a-z]`, `[!a-z]`, `{one,other}` and `\`
 * before a character. Each alternative is a pattern of its own. Returns the reason as a text if the
 * pattern cannot be understood.
 */
export function parsePattern(text: string): PathPattern[] | string {
  if (text.length > PATTERN_CHARS_MAX) return `it is longer than ${PATTERN_CHARS_MAX} characters`;
  if (text.includes('\0')) return 'it contains a NUL character';
  try {
    return new Parser([...text]).all().map(toNames);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

class PatternError extends Error {}

class Parser {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
  }

  all(): Token[][] {
    return this.#sequences();
  }

  /** Reads up to the end of the pattern, or of an alternative. */
  #sequences(): Token[][] {
    let found: Token[][] = [[]];
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined) {
        if (this.#depth > 0) throw new PatternError('a `{` has no `}`');
        return found;
      }
      if (this.#depth > 0 && (char === ',' || char === '}')) return found;
      this.#at += 1;
      const next = char === '{' ? this.#alternatives() : [[this.#token(char)]];
      if (found.length * next.length > ALTERNATIVES_MAX)
        throw new PatternError(`it has more than ${ALTERNATIVES_MAX} alternatives`);
      found = found.flatMap((before) => next.map((after) => [...before, ...after]));
    }
  }

  #alternatives(): Token[][] {
    this.#depth += 1;
    const found: Token[][] = [];
    for (;;) {
      found.push(...this.#sequences());
      const end = this.#chars[this.#at];
      this.#at += 1;
      if (end === '}') break;
    }
    this.#depth -= 1;
    return found;
  }

  #token(char: string): Token {
    switch (char) {
      case '/':
        return { kind: 'slash' };
      case '*':
        return { kind: 'star' };
      case '?':
        return { kind: 'any' };
      case '[':
        return this.#set() ?? { kind: 'char', char };
      case '}':
        throw new PatternError('a `}` has no `{`');
      case '\\': {
        const escaped = this.#chars[this.#at];
        if (escaped === undefined) throw new PatternError('nothing follows the last `\\`');
        this.#at += 1;
        return { kind: 'char', char: escaped };
      }
      default:
        return { kind: 'char', char };
    }
  }

  /**
   * Null: no `]` follows, so the `[` is a character like others. A `]` in the first place is one of
   * the set.
   */
  #set(): NameToken | null {
    const negated = this.#chars[this.#at] === '!' || this.#chars[this.#at] === '^';
    const first = this.#at + (negated ? 1 : 0);
    const end = this.#chars.indexOf(']', first + 1);
    if (end === -1) return null;
    const ranges: [string, string][] = [];
    for (let at = first; at < end; at++) {
      const from = this.#chars[at] ?? '';
      const isRange = this.#chars[at + 1] === '-' && at + 2 < end;
      const to = isRange ? (this.#chars[at + 2] ?? '') : from;
      if (codeOf(from) > codeOf(to))
        throw new PatternError(`the range \`${from}-${to}\` ends before it begins`);
      ranges.push([from, to]);
      if (isRange) at += 2;
    }
    this.#at = end + 1;
    return { kind: 'set', negated, ranges };
  }
}

function toNames(tokens: readonly Token[]): NamePattern[] {
  const names: NameToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'slash') names.push([]);
    else names.at(-1)?.push(token);
  }
  const given = names.filter((name) => name.length > 0);
  if (given.length === 0) throw new PatternError('it names nothing');
  if (given.some((name) => ['.', '..'].includes(literalName(name) ?? '')))
    throw new PatternError('it contains `.` or `..`');
  const parsed = given.map((name) =>
    name.length === 2 && name.every(({ kind }) => kind === 'star') ? '**' : name,
  );
  return parsed.filter((name, index) => name !== '**' || parsed[index + 1] !== '**');
}

/** The only name that matches. Null: several can. */
export function literalName(name: NamePattern): string | null {
  if (name === '**') return null;
  const chars = name.map((token) => (token.kind === 'char' ? token.char : null));
  return chars.includes(null) ? null : chars.join('');
}

/** The positions before the first name. */
export function startOf(pattern: PathPattern): Positions {
  return reached(pattern, [0]);
}

/** The positions after one more name. The path so far matches if `isEnd` is true of them. */
export function after(pattern: PathPattern, positions: Positions, name: string): Positions {
  const next: number[] = [];
  for (const at of positions) {
    const part = pattern[at];
    if (part === '**') next.push(at, ...(at === pattern.length - 1 ? [at + 1] : []));
    else if (part !== undefined && matchesName(part, name)) next.push(at + 1);
  }
  return reached(pattern, next);
}

/** The positions after one more name, as far as the pattern has it as plain text. */
export function afterNamed(pattern: PathPattern, positions: Positions, name: string): Positions {
  const isNamed = (at: number) => pattern[at] !== undefined && literalName(pattern[at]) === name;
  return reached(
    pattern,
    positions.filter(isNamed).map((at) => at + 1),
  );
}

export function isEnd(pattern: PathPattern, positions: Positions): boolean {
  return positions.at(-1) === pattern.length;
}

/** Adds the positions behind each `**`, which no name need match, unless it is the last part. */
function reached(pattern: PathPattern, positions: readonly number[]): Positions {
  const all = positions.flatMap((at) =>
    pattern[at] === '**' && at < pattern.length - 1 ? [at, at + 1] : [at],
  );
  return [...new Set(all)].sort((one, other) => one - other);
}

/** Takes time in proportion to the lengths of both at most. */
function matchesName(tokens: readonly NameToken[], name: string): boolean {
  const chars = [...name];
  let token = 0;
  let char = 0;
  /** Where the last `*` stands, and how far its text may begin to be tried again. */
  let star = -1;
  let retry = 0;
  while (char < chars.length) {
    const next = tokens[token];
    if (next?.kind === 'star') {
      star = token;
      retry = char;
      token += 1;
    } else if (next !== undefined && matchesChar(next, chars[char] ?? '')) {
      token += 1;
      char += 1;
    } else if (star === -1) return false;
    else {
      retry += 1;
      char = retry;
      token = star + 1;
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star');
}

function matchesChar(token: NameToken, char: string): boolean {
  switch (token.kind) {
    case 'char':
      return token.char === char;
    case 'any':
      return true;
    case 'star':
      return false;
    case 'set': {
      const code = codeOf(char);
      return (
        token.ranges.some(([from, to]) => codeOf(from) <= code && code <= codeOf(to)) !==
        token.negated
      );
    }
    default:
      return token satisfies never;
  }
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
