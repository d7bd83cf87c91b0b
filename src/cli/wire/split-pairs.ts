/** A word of a line: `NAME=VALUE`, or only a name. */
export interface Pair {
  name: string;
  /** The text after `=`, as it is written. Null: there is no `=`. */
  value: string | null;
  /** Whether quotes or brackets of the value are not closed. */
  isOpen: boolean;
  /** The text that follows the value without a blank. */
  surplus: string;
  /** The index after it. */
  end: number;
}

/** Splits a text at its blanks, except those in quotes, braces and brackets of values. */
export function splitPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (
    let at = wordEnd(text, 0, /\s*/y);
    at < text.length;
    at = wordEnd(text, pairs.at(-1)?.end ?? text.length, /\s*/y)
  ) {
    const nameEnd = wordEnd(text, at, /[^\s=]*/y);
    const name = text.slice(at, nameEnd);
    if (text[nameEnd] !== '=') {
      pairs.push({ name, value: null, isOpen: false, surplus: '', end: nameEnd });
      continue;
    }
    const { end: valueEnd, isOpen } = endOfValue(text, nameEnd + 1);
    const end = wordEnd(text, valueEnd, /\S*/y);
    pairs.push({
      name,
      value: text.slice(nameEnd + 1, valueEnd),
      isOpen,
      surplus: text.slice(valueEnd, end),
      end,
    });
  }
  return pairs;
}

function wordEnd(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

function endOfValue(text: string, from: number): { end: number; isOpen: boolean } {
  const first = text[from] ?? '';
  if (first === "'") return closed(text, text.indexOf("'", from + 1));
  if (first === '"') return closed(text, endOfString(text, from));
  if (first === '{' || first === '[') return closed(text, endOfBrackets(text, from));
  return { end: wordEnd(text, from, /\S*/y), isOpen: false };
}

/** `last`: the index of the character that closes the value, or -1. */
function closed(text: string, last: number): { end: number; isOpen: boolean } {
  return last === -1 ? { end: text.length, isOpen: true } : { end: last + 1, isOpen: false };
}

/** The index of the quote that ends the string, or -1. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return at;
    if (text[at] === '\\') at++;
  }
  return -1;
}

/** The index of the bracket that ends the value, or -1. */
function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const mark = text[at] ?? '';
    if (mark === '"') {
      const end = endOfString(text, at);
      if (end === -1) return -1;
      at = end;
    } else if (mark === '{' || mark === '[') depth++;
    else if ((mark === '}' || mark === ']') && --depth === 0) return at;
  }
  return -1;
}
