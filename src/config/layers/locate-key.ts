import type { JsonObject } from '../../base/json-value.ts';
import type { TextRange } from '../../protocol/generated/types.ts';
import { valueAt } from './config-table.ts';

/** Parses TOML; null where it does not parse. */
type TryParse = (text: string) => JsonObject | null;

// Finding a line costs parses of the text's beginnings; a file where more are needed gets no line in its message.
const PARSES_MAX = 400;

/**
 * Where a key, or its nearest parent that is written out, stands in a TOML text. A key stands on the line before which
 * the text parses without it, and after which with it: so the parser decides what is a key and what is in a string.
 */
export function locateKey(text: string, path: readonly string[], tryParse: TryParse): TextRange | null {
  const lines = text.split('\n');
  let parses = 0;
  const parseLines = (count: number) => (++parses > PARSES_MAX ? null : tryParse(`${lines.slice(0, count).join('\n')}\n`));
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

/** The shortest beginning of at least `count` lines that parses: a value may go over several lines. */
function parseOnward(lineCount: number, count: number, parseLines: (count: number) => JsonObject | null): JsonObject | null {
  const last = Math.min(lineCount, count + PARSES_MAX);
  for (let end = count; end <= last; end++) {
    const table = parseLines(end);
    if (table !== null) return table;
  }
  return null;
}
