import type { EventLoopYield } from '../../base/event-loop-yield.ts';

const LINES_AT_ONCE = 1_000;

/** A line and its line end. The line end is empty for a last line without one. */
export interface TextLine {
  text: string;
  end: '\n' | '\r\n' | '';
}

/** A line of a file, and its index in the file's text. */
export interface FileLine extends TextLine {
  start: number;
}

/** Splits a text into lines. A lone CR does not end a line. */
export async function fileLines(text: string, breaks: EventLoopYield): Promise<FileLine[]> {
  const lines: FileLine[] = [];
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    if (found === -1) {
      lines.push({ text: text.slice(start), end: '', start });
      break;
    }
    const isPair = found > start && text[found - 1] === '\r';
    lines.push({ text: text.slice(start, isPair ? found - 1 : found), end: isPair ? '\r\n' : '\n', start });
    start = found + 1;
    if (lines.length % LINES_AT_ONCE === 0) await breaks.worked(LINES_AT_ONCE);
  }
  return lines;
}
