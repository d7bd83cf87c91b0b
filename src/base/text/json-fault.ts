/** Why a text is not JSON. */
export interface JsonFault {
  /**
   * The fault: the expected or the refused part. Has nothing of the text, which may have secrets.
   */
  reason: string;
  /**
   * The index of the first character that does not fit. The length of the text if it ends too soon.
   */
  index: number;
}

/** The parts that may come next, besides blanks. */
type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a name in double quotes'
  | 'a name in double quotes or }'
  | 'a colon'
  | 'a comma or ]'
  | 'a comma or }'
  | 'the end';

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/**
 * Finds the first character at which a text is not JSON. Null: it is JSON. The messages of
 * JSON.parse differ between versions of Node, and many do not say where. Takes time in proportion
 * to the length of the text.
 */
export function jsonFault(text: string): JsonFault | null {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'a value';
  for (let at = endOf(BLANK, text, 0); at < text.length; at = endOf(BLANK, text, at)) {
    const mark = text[at] ?? '';
    const after = openedOrClosed(mark, expected, open);
    if (after !== null) {
      expected = after;
      at++;
      continue;
    }
    const next: Expected | null = afterWhole(mark, expected, open);
    const end = mark === '"' && next !== null ? stringEnd(text, at) : endOf(SCALAR, text, at);
    if (typeof end !== 'number') return end;
    if (next === null || end === at) return { reason: `expected ${expected}`, index: at };
    expected = next;
    at = end;
  }
  return expected === 'the end'
    ? null
    : { reason: `it ends too soon: expected ${expected}`, index: text.length };
}

/**
 * Takes a mark that opens, separates or closes. Returns what may follow, or null if it is no such
 * mark, or not allowed here.
 */
function openedOrClosed(mark: string, expected: Expected, open: ('[' | '{')[]): Expected | null {
  if ((mark === '[' || mark === '{') && expected.startsWith('a value')) {
    open.push(mark);
    return mark === '[' ? 'a value or ]' : 'a name in double quotes or }';
  }
  if ((mark === ']' || mark === '}') && expected.endsWith(`or ${mark}`)) {
    open.pop();
    return afterValue(open);
  }
  if (mark === ':' && expected === 'a colon') return 'a value';
  if (mark === ',' && expected.startsWith('a comma'))
    return open.at(-1) === '[' ? 'a value' : 'a name in double quotes';
  return null;
}

/**
 * Takes a string or a scalar that begins with this mark. Returns what may follow, or null if it is
 * not allowed here.
 */
function afterWhole(
  mark: string,
  expected: Expected,
  open: readonly ('[' | '{')[],
): Expected | null {
  if (expected.startsWith('a name')) return mark === '"' ? 'a colon' : null;
  return expected.startsWith('a value') ? afterValue(open) : null;
}

function afterValue(open: readonly ('[' | '{')[]): Expected {
  const inner = open.at(-1);
  return inner === undefined ? 'the end' : inner === '[' ? 'a comma or ]' : 'a comma or }';
}

/**
 * The index behind the string that begins at `from`. By hand: a regular expression needs a stack as
 * deep as the string is long.
 */
function stringEnd(text: string, from: number): number | JsonFault {
  for (let at = from + 1; at < text.length; ) {
    const mark = text[at] ?? '';
    if (mark === '"') return at + 1;
    if (mark < ' ')
      return { reason: 'a string has a control character: write it as an escape', index: at };
    const end = mark === '\\' ? endOf(ESCAPE, text, at) : at + 1;
    if (end === at) return { reason: 'a string has an escape that JSON does not know', index: at };
    at = end;
  }
  return { reason: 'it ends too soon: a string has no end', index: text.length };
}

/** The index behind what the pattern matches at `from`; `from` if it does not match. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}
