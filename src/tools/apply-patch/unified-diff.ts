import type { StructuredPatchHunk } from 'diff';

/** How long one file is compared before all between its first and its last difference counts as changed. */
const COMPARE_MS_MAX = 200;
const CONTEXT_LINES = 3;
const NO_LINE_END = '\\ No newline at end of file\n';

/** The hunks of a unified diff between two texts; empty where they are the same. */
export async function unifiedDiff(before: string, after: string): Promise<string> {
  if (before === after) return '';
  const { structuredPatch } = await import('diff');
  const compared = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES, timeout: COMPARE_MS_MAX });
  return (compared === undefined ? [coarseHunk(before, after)] : compared.hunks).map(hunkText).join('');
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): string {
  const body = lines.map((line) => (line.startsWith('\\') ? NO_LINE_END : `${line}\n`));
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${body.join('')}`;
}

function range(start: number, count: number): string {
  return count === 1 ? String(start) : `${start},${count}`;
}

/** All from the first difference to the last, as one change. */
function coarseHunk(before: string, after: string): StructuredPatchHunk {
  const [old, now] = [splitLines(before), splitLines(after)];
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const start = Math.max(0, head - CONTEXT_LINES);
  const kept = Math.max(0, tail - CONTEXT_LINES);
  const marked = (mark: string, lines: string[]) => lines.flatMap((line) => markedLine(mark, line));
  const oldLines = old.length - kept - start;
  const newLines = now.length - kept - start;
  return {
    oldStart: oldLines === 0 ? start : start + 1,
    oldLines,
    newStart: newLines === 0 ? start : start + 1,
    newLines,
    lines: [
      ...marked(' ', old.slice(start, head)),
      ...marked('-', old.slice(head, old.length - tail)),
      ...marked('+', now.slice(head, now.length - tail)),
      ...marked(' ', old.slice(old.length - tail, old.length - kept)),
    ],
  };
}

function markedLine(mark: string, line: string): string[] {
  return line.endsWith('\n') ? [`${mark}${line.slice(0, -1)}`] : [`${mark}${line}`, '\\'];
}

/** Lines with their ends. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
