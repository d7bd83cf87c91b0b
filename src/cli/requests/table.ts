import { cutText, textEnd } from '../../base/text/cut-text.ts';
import { showText } from '../../base/text/show-text.ts';

/** A column of a table. */
export interface Column {
  title: string;
  /** The part of a cell that is left where the terminal is too narrow. Absent: all of it. */
  keeps?: 'start' | 'end';
}

const GAP = '  ';
/** So wide stays a column that is cut. */
const WIDTH_MIN = 8;

/**
 * Makes a table of lines. With `width`, that of a terminal, the widest columns that can be cut are
 * cut until the lines fit, and each line at its end if they still do not. Each cell is one line.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null,
): string {
  const titles = columns.map(({ title }) => title);
  const lines = [titles, ...rows].map((row) =>
    row.map((cell) => showText(cell.replace(/\s+/g, ' ').trim())),
  );
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((row) => row[index]?.length ?? 0)),
  );
  if (width !== null) narrow(widths, columns, width);
  return lines
    .map((row) => {
      const cells = row.map((cell, index) =>
        fitting(cell, widths[index] ?? 0, columns[index]?.keeps),
      );
      const line = cells.join(GAP).trimEnd();
      return `${width === null || line.length <= width ? line : `${cutText(line, width - 1)}…`}\n`;
    })
    .join('');
}

/**
 * Changes the widths so that a line fits into the terminal, if the columns that can be cut suffice
 * for that.
 */
function narrow(widths: number[], columns: readonly Column[], width: number): void {
  const total = () => widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
  while (total() > width) {
    const cuttable = widths.map((one, index) =>
      columns[index]?.keeps === undefined || one <= WIDTH_MIN ? 0 : one,
    );
    const widest = Math.max(...cuttable);
    if (widest === 0) return;
    widths[cuttable.indexOf(widest)] = widest - 1;
  }
}

function fitting(cell: string, width: number, keeps: Column['keeps']): string {
  if (cell.length <= width || keeps === undefined) return cell.padEnd(width);
  return (
    keeps === 'start' ? `${cutText(cell, width - 1)}…` : `…${textEnd(cell, width - 1)}`
  ).padEnd(width);
}
