/** A line of a file, with what ends it: nothing for a last line without a line end. */
export interface FileLine {
  text: string;
  end: '\n' | '\r\n' | '';
}

/** Cuts a text into its lines. A CR alone ends no line. */
export function fileLines(text: string): FileLine[] {
  const lines: FileLine[] = [];
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    if (found === -1) {
      lines.push({ text: text.slice(start), end: '' });
      break;
    }
    const isPair = found > start && text[found - 1] === '\r';
    lines.push({ text: text.slice(start, isPair ? found - 1 : found), end: isPair ? '\r\n' : '\n' });
    start = found + 1;
  }
  return lines;
}
