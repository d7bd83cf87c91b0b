const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const INT64_DIGITS_MAX = 19;

/**
 * The JSON text of a message's id, exact to the last digit. Returns null if the id is neither a
 * string nor an integer of 64 bits.
 */
export function idText(id: unknown, line: string): string | null {
  if (typeof id === 'string') return JSON.stringify(id);
  if (typeof id !== 'number') return null;
  if (Number.isSafeInteger(id)) return String(id);
  const text = topLevelNumber(line, 'id');
  if (text === null || text.length > INT64_DIGITS_MAX + 1 || !/^-?\d+$/.test(text)) return null;
  const exact = BigInt(text);
  return exact <= INT64_MAX && exact >= INT64_MIN ? String(exact) : null;
}

/**
 * The number at `key` in the object that `line` holds, as it is written there. Returns null if
 * there is none.
 */
function topLevelNumber(line: string, key: string): string | null {
  // Skips strings by hand, since they may be long: a regular expression would need a stack as deep
  // as the string is long.
  const token = /["{}[\]]|-?\d[\d.eE+-]*/g;
  let depth = 0;
  let previous = '';
  let found: string | null = null;
  for (let match = token.exec(line); match !== null; match = token.exec(line)) {
    let [text] = match;
    if (text === '"') {
      token.lastIndex = stringEnd(line, match.index);
      text = line.slice(match.index, token.lastIndex);
    } else if (text === '{' || text === '[') depth++;
    else if (text === '}' || text === ']') depth--;
    else if (depth === 1 && previous === `"${key}"`) found = text;
    previous = text;
  }
  return found;
}

/** The index after the string that begins at `start`. The line must be valid JSON. */
function stringEnd(line: string, start: number): number {
  let end = start;
  let escapes: number;
  do {
    end = line.indexOf('"', end + 1);
    escapes = 0;
    while (line[end - 1 - escapes] === '\\') escapes++;
  } while (escapes % 2 === 1);
  return end + 1;
}
