import type { EventLoopYield } from '../../../base/event-loop-yield.ts';
import { eachLine, inSlices, slicesOf } from '../../../base/in-slices.ts';
import { compareLines, type Run } from './compare-lines.ts';

const CONTEXT_LINES = 3;
const LINES_AT_ONCE = 1_000;
const BLOCK_CHARS = 64 * 1024;
const NO_LINE_END = '\\ No newline at end of file\n';

/** The part in which two texts differ, with the context lines around it. */
interface Window {
  /** The number of lines before it, which are the same in both texts. */
  linesBefore: number;
  old: string[];
  now: string[];
}

/**
 * A hunk in progress: its first line in both texts, counted from 0, and its lines with their
 * prefixes, some of them in each part.
 */
interface Hunk {
  oldStart: number;
  newStart: number;
  oldCount: number;
  newCount: number;
  parts: string[];
}

/** The hunks of a unified diff between two texts. Empty if the texts are the same. */
export async function unifiedDiff(
  before: string,
  after: string,
  breaks: EventLoopYield,
): Promise<string> {
  if (before === after) return '';
  const window = await windowOf(before, after, breaks);
  const runs = await compareLines(window.old, window.now, breaks);
  return (await hunks(window, runs, breaks)).map(hunkText).join('');
}

/**
 * Skips what the texts have in common at the beginning and at the end, since most changes of a
 * large file are small.
 */
async function windowOf(before: string, after: string, breaks: EventLoopYield): Promise<Window> {
  const head = linesBack(before, sameStart(before, after), CONTEXT_LINES);
  const tail = sameEnd(before, after, head);
  const end = linesOn(before, before.length - tail, CONTEXT_LINES);
  const [old, now] = [
    before.slice(head, end),
    after.slice(head, after.length - (before.length - end)),
  ];
  return {
    linesBefore: await lineCount(before, head, breaks),
    old: await linesOf(old, breaks),
    now: await linesOf(now, breaks),
  };
}

/** The length of the whole lines that both texts begin with. */
function sameStart(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at < shorter && one.slice(at, at + BLOCK_CHARS) === other.slice(at, at + BLOCK_CHARS))
    at += BLOCK_CHARS;
  while (at < shorter && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return one.lastIndexOf('\n', Math.min(at, shorter) - 1) + 1;
}

/** The length of the whole lines that both texts end with, after `from`. */
function sameEnd(one: string, other: string, from: number): number {
  const shorter = Math.min(one.length, other.length) - from;
  const piece = (text: string, end: number, chars: number) =>
    text.slice(text.length - end - chars, text.length - end);
  let same = 0;
  while (
    same + BLOCK_CHARS <= shorter &&
    piece(one, same, BLOCK_CHARS) === piece(other, same, BLOCK_CHARS)
  )
    same += BLOCK_CHARS;
  while (same < shorter && piece(one, same, 1) === piece(other, same, 1)) same++;
  const isWhole = [one, other].every(
    (text) => same === text.length - from || text[text.length - same - 1] === '\n',
  );
  return isWhole ? same : one.length - linesOn(one, one.length - same, 1);
}

/** The start of the line that is `count` lines before the line that starts at `at`. */
function linesBack(text: string, at: number, count: number): number {
  let start = at;
  for (let left = count; left > 0 && start > 0; left--)
    start = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
  return start;
}

/**
 * The start of the line that is `count` lines after the line that contains `at`, or the end of the
 * text.
 */
function linesOn(text: string, at: number, count: number): number {
  let start = at;
  for (let left = count; left > 0 && start < text.length; left--)
    start = text.indexOf('\n', start) + 1 || text.length;
  return start;
}

async function lineCount(text: string, end: number, breaks: EventLoopYield): Promise<number> {
  let count = 0;
  await eachLine(text.slice(0, end), () => count++, breaks, 1 / 10);
  return count;
}

/** The lines of a text with their line ends. */
async function linesOf(text: string, breaks: EventLoopYield): Promise<string[]> {
  const lines: string[] = [];
  await eachLine(text, (from, to) => lines.push(text.slice(from, to)), breaks);
  return lines;
}

async function hunks(
  { linesBefore, old, now }: Window,
  runs: readonly Run[],
  breaks: EventLoopYield,
): Promise<Hunk[]> {
  const made: Hunk[] = [];
  let [oldAt, newAt] = [0, 0];
  let open: Hunk | null = null;
  for (const { kind, count } of runs.flatMap(withGap)) {
    if (kind === 'gap') open = null;
    else {
      const place = { oldStart: linesBefore + oldAt, newStart: linesBefore + newAt };
      const hunk: Hunk = open ?? { ...place, oldCount: 0, newCount: 0, parts: [] };
      if (open === null) made.push(hunk);
      open = hunk;
      await putRun(
        hunk,
        {
          kind,
          lines: kind === '+' ? now.slice(newAt, newAt + count) : old.slice(oldAt, oldAt + count),
        },
        breaks,
      );
    }
    if (kind !== '+') oldAt += count;
    if (kind !== '-') newAt += count;
  }
  return made;
}

/**
 * Splits a run of common lines into context lines and a gap of lines that are far from any change.
 */
function withGap(
  run: Run,
  index: number,
  all: readonly Run[],
): { kind: Run['kind'] | 'gap'; count: number }[] {
  const before = index === 0 ? 0 : CONTEXT_LINES;
  const after = index === all.length - 1 ? 0 : CONTEXT_LINES;
  if (run.kind !== ' ' || run.count <= before + after) return [run];
  const lines = (kind: ' ' | 'gap', count: number) => (count === 0 ? [] : [{ kind, count }]);
  return [...lines(' ', before), ...lines('gap', run.count - before - after), ...lines(' ', after)];
}

async function putRun(
  hunk: Hunk,
  { kind, lines }: { kind: Run['kind']; lines: readonly string[] },
  breaks: EventLoopYield,
): Promise<void> {
  const units = ({ length }: readonly string[]) => length;
  for await (const part of inSlices(slicesOf(lines, LINES_AT_ONCE), units, breaks))
    put(hunk, kind, part);
}

function put(hunk: Hunk, kind: Run['kind'], lines: readonly string[]): void {
  if (kind !== '+') hunk.oldCount += lines.length;
  if (kind !== '-') hunk.newCount += lines.length;
  hunk.parts.push(
    lines
      .map((line) => (line.endsWith('\n') ? `${kind}${line}` : `${kind}${line}\n${NO_LINE_END}`))
      .join(''),
  );
}

function hunkText({ oldStart, oldCount, newStart, newCount, parts }: Hunk): string {
  return `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n${parts.join('')}`;
}

/**
 * The range in a hunk header. Lines are counted from 1; an empty range names the line before it.
 */
function range(start: number, count: number): string {
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}
