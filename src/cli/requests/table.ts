import { cutText } from '../../base/text/cut-text.ts';
import { showText } from '../../base/text/show-text.ts';

const GAP = '  ';

/**
 * Makes a table of lines. With `columns`, the last column is cut to the width of a terminal. Each
 * cell is one line.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => showText(cell.replace(/\s+/g, ' ').trim())),
  );
  const widths = head.map((_, index) => Math.max(...lines.map((row) => row[index]?.length ?? 0)));
  return lines
    .map((row) => {
      const line = row
        .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
        .join(GAP);
      return `${columns === null || line.length <= columns ? line.trimEnd() : `${cutText(line, columns - 1)}…`}\n`;
    })
    .join('');
}
