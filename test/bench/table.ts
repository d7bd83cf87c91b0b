/** The measured values of one row, by subject. */
export interface Row {
  name: string;
  unit: string;
  values: Record<string, number[]>;
}

/**
 * Returns a Markdown table: the median and range of both columns, and the ratio of the first one's
 * median to that of the second.
 */
export function table(
  rows: Row[],
  [subject, floor]: [string, string],
  { ratios = true } = {},
): string {
  const cells = rows.map(({ name, unit, values }) => {
    const own = values[subject] ?? [];
    const least = values[floor] ?? [];
    const ratio = unit === '' ? Number.NaN : median(own) / median(least);
    const compared = Number.isFinite(ratio) ? `${ratio.toFixed(2)} ×` : '';
    return [name, unit, spread(own), spread(least), ...(ratios ? [compared] : [])];
  });
  const all = [['', 'unit', subject, floor, ...(ratios ? ['ratio'] : [])], ...cells];
  const widths =
    all[0]?.map((_, column) => Math.max(3, ...all.map((line) => line[column]?.length ?? 0))) ?? [];
  const print = (line: string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = all.map(print);
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}

/** Returns NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (
    ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
  );
}

/** Returns NaN if there are no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function spread(values: readonly number[]): string {
  if (values.length === 0 || values.some(Number.isNaN)) return '';
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? figure(low) : `${figure(median(values))} (${figure(low)}–${figure(high)})`;
}

/** Three significant digits; no decimals from 100 on. */
function figure(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}
