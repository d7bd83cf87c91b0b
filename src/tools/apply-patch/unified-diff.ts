/** How long one file is compared before all between its first and its last difference counts as changed. */
const COMPARE_MS_MAX = 200;
const CONTEXT_LINES = 3;
const NO_LINE_END = '\\ No newline at end of file\n';

/** Lines that follow each other in both texts, in the old one alone, or in the new one alone. */
interface Run {
  kind: ' ' | '-' | '+';
  count: number;
}

/** A hunk as it is put together: where it begins in both texts, counted from 0, and its lines with their marks. */
interface Hunk {
  oldStart: number;
  newStart: number;
  oldCount: number;
  newCount: number;
  lines: string[];
}

/** The hunks of a unified diff between two texts; empty where they are the same. */
export async function unifiedDiff(before: string, after: string): Promise<string> {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  return hunks(old, now, await runs(old, now))
    .map(hunkText)
    .join('');
}

/** The texts line by line, from what they have in common at both ends to what is between. */
async function runs(old: readonly string[], now: readonly string[]): Promise<Run[]> {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const middle = await compared(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [{ kind: ' ' as const, count: head }, ...middle, { kind: ' ' as const, count: tail }].filter(({ count }) => count > 0);
}

async function compared(old: readonly string[], now: readonly string[]): Promise<Run[]> {
  const coarse: Run[] = [
    { kind: '-', count: old.length },
    { kind: '+', count: now.length },
  ];
  if (old.length === 0 || now.length === 0) return coarse;
  const { diffArrays } = await import('diff');
  const numbers = new Map<string, number>();
  const numbered = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  const parts = diffArrays(old.map(numbered), now.map(numbered), { timeout: COMPARE_MS_MAX });
  return parts?.map(({ added, removed, count }) => ({ kind: added ? '+' : removed ? '-' : ' ', count })) ?? coarse;
}

function hunks(old: readonly string[], now: readonly string[], parts: readonly Run[]): Hunk[] {
  const made: Hunk[] = [];
  let [oldAt, newAt] = [0, 0];
  let open: Hunk | null = null;
  for (const { kind, count } of parts.flatMap(withGap)) {
    if (kind === 'gap') open = null;
    else {
      const hunk: Hunk = open ?? { oldStart: oldAt, newStart: newAt, oldCount: 0, newCount: 0, lines: [] };
      if (open === null) made.push(hunk);
      open = hunk;
      put(hunk, kind, kind === '+' ? now.slice(newAt, newAt + count) : old.slice(oldAt, oldAt + count));
    }
    if (kind !== '+') oldAt += count;
    if (kind !== '-') newAt += count;
  }
  return made;
}

/** Of lines that both texts have, those far from any change are left out. */
function withGap(run: Run, index: number, all: readonly Run[]): { kind: Run['kind'] | 'gap'; count: number }[] {
  const before = index === 0 ? 0 : CONTEXT_LINES;
  const after = index === all.length - 1 ? 0 : CONTEXT_LINES;
  if (run.kind !== ' ' || run.count <= before + after) return [run];
  const lines = (kind: ' ' | 'gap', count: number) => (count === 0 ? [] : [{ kind, count }]);
  return [...lines(' ', before), ...lines('gap', run.count - before - after), ...lines(' ', after)];
}

function put(hunk: Hunk, kind: Run['kind'], lines: readonly string[]): void {
  if (kind !== '+') hunk.oldCount += lines.length;
  if (kind !== '-') hunk.newCount += lines.length;
  for (const line of lines) hunk.lines.push(line.endsWith('\n') ? `${kind}${line}` : `${kind}${line}\n${NO_LINE_END}`);
}

function hunkText({ oldStart, oldCount, newStart, newCount, lines }: Hunk): string {
  return `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n${lines.join('')}`;
}

/** Lines count from 1; of no lines, the one in front of them is named. */
function range(start: number, count: number): string {
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
