import type { JsonObject } from '../../base/json-value.ts';
import type { TextRange } from '../../protocol/generated/types.ts';
import { valueAt } from './config-table.ts';

/** Parses TOML. Returns null if the text is invalid. */
type TryParse = (text: string) => JsonObject | null;

// Each line that is tried parses the start of the file again. After this many parses, the message has no line.
const PARSES_MAX = 400;
/** The most text that is parsed for a message, in UTF-16 code units. It takes about 15 ms. */
const PARSED_CHARS_MAX = 256 * 1024;

/**
 * Returns the range of a key in a TOML text. If the text does not have the key, returns the range of its nearest parent. Returns
 * null if neither is found. The parser decides on which line the key is: the text before that line parses without the key, and
 * the text up to and including that line parses with it.
 */
export function locateKey(text: string, path: readonly string[], tryParse: TryParse): TextRange | null {
  const lines = text.split('\n');
  let parses = 0;
  let chars = 0;
  const parseLines = (count: number) => {
    if (++parses > PARSES_MAX || chars > PARSED_CHARS_MAX) return null;
    const start = `${lines.slice(0, count).join('\n')}\n`;
    chars += start.length;
    return chars > PARSED_CHARS_MAX ? null : tryParse(start);
  };
  for (let length = path.length; length > 0; length--) {
    const range = findKey(lines, path.slice(0, length), parseLines);
    if (range !== null) return range;
  }
  return null;
}

function findKey(lines: string[], path: readonly string[], parseLines: (count: number) => JsonObject | null): TextRange | null {
  const key = path.at(-1) ?? '';
  const whole = new RegExp(`(?<![\\w-])${key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`);
  for (const [index, line] of lines.entries()) {
    const at = line.search(whole);
    if (at === -1) continue;
    const before = parseLines(index);
    if (before === null || valueAt(before, path) !== undefined) continue;
    const after = parseOnward(lines.length, index + 1, parseLines);
    if (after === null || valueAt(after, path) === undefined) continue;
    const start = { line: index + 1, column: at + 1 };
    return { start, end: { line: start.line, column: start.column + key.length } };
  }
  return null;
}

/** Parses the shortest start of the file with at least `count` lines that is valid: a value may span several lines. */
function parseOnward(lineCount: number, count: number, parseLines: (count: number) => JsonObject | null): JsonObject | null {
  const last = Math.min(lineCount, count + PARSES_MAX);
  for (let end = count; end <= last; end++) {
    const table = parseLines(end);
    if (table !== null) return table;
  }
  return null;
}
