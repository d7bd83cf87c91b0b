import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { type FileLine, fileLines, type TextLine } from './file-lines.ts';
import { LineSearch } from './line-search.ts';
import type { Chunk, ChunkLine } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';

const BOM = '\ufeff';

/** Lines of the file that are replaced, by others. */
interface Edit {
  start: number;
  count: number;
  lines: TextLine[];
}

/** What chunks are applied to. */
interface File {
  /** How the patch is told of it. */
  path: string;
  lines: readonly FileLine[];
  newEnd: '\n' | '\r\n';
  breaks: EventLoopYield;
}

/**
 * The text that a file has once the chunks are applied to it. Lines that stay keep their own text and line end; the file's
 * first line end is that of the lines put in. The result ends with a line end, unless it is empty. Throws a PatchError that
 * says what was looked for and not found; `path` is how it calls the file.
 */
export async function applyChunks(
  text: string,
  chunks: readonly Chunk[],
  { path, breaks }: { path: string; breaks: EventLoopYield },
): Promise<string> {
  const mark = text.startsWith(BOM) ? BOM : '';
  const unmarked = text.slice(mark.length);
  const lines = await fileLines(unmarked, breaks);
  const newEnd = lines[0]?.end === '\r\n' ? '\r\n' : '\n';
  const parts = [mark];
  let copied = 0;
  const copyTo = (index: number) => {
    const [from, to] = [lines[copied]?.start ?? unmarked.length, lines[index]?.start ?? unmarked.length];
    parts.push(unmarked.slice(from, to));
    if (index > copied && lines[index - 1]?.end === '') parts.push(newEnd);
  };
  for (const { start, count, lines: put } of await edits({ path, lines, newEnd, breaks }, chunks)) {
    copyTo(start);
    for (const line of put) parts.push(line.text, line.end || newEnd);
    copied = start + count;
    await breaks.worked(put.length);
  }
  copyTo(lines.length);
  const result = parts.join('');
  if (result === mark) return '';
  // A patch may write the mark of the first line with it.
  return result.startsWith(BOM + BOM) ? result.slice(1) : result;
}

/** Where each chunk belongs, in the order of the file. */
async function edits({ path, lines, newEnd, breaks }: File, chunks: readonly Chunk[]): Promise<Edit[]> {
  const search = new LineSearch(
    lines.map(({ text }) => text),
    breaks,
  );
  const found: Edit[] = [];
  const appended: TextLine[] = [];
  let place = 0;
  for (const chunk of chunks) {
    if (chunk.anchor !== null) {
      const anchor = await search.find([chunk.anchor], { from: place });
      if (anchor === null) throw new PatchError(`Failed to find the line '${chunk.anchor}' in ${path}`);
      place = anchor + 1;
    }
    const located = await locate(search, chunk, place);
    if (located === null) throw new PatchError(`Failed to find expected lines in ${path}:\n${oldLines(chunk.lines).join('\n')}`);
    const { start, chunkLines } = located;
    if (start === null) {
      appended.push(...chunkLines.map(({ text }) => ({ text, end: newEnd })));
      continue;
    }
    const count = oldLines(chunkLines).length;
    found.push({ start, count, lines: resulting(lines.slice(start, start + count), chunkLines, newEnd) });
    place = start + count;
  }
  return appended.length === 0 ? found : [...found, { start: lines.length, count: 0, lines: appended }];
}

/**
 * Where the lines of a chunk are; `start` null: nowhere, since all of them are put in. A chunk may have more empty lines at its
 * end than the file: those in front of the next header, mostly.
 */
async function locate(
  search: LineSearch,
  { lines, atEnd }: Chunk,
  from: number,
): Promise<{ start: number | null; chunkLines: readonly ChunkLine[] } | null> {
  for (let chunkLines = lines; ; chunkLines = chunkLines.slice(0, -1)) {
    const old = oldLines(chunkLines);
    if (old.length === 0) return chunkLines.length === 0 ? null : { start: null, chunkLines };
    const start = await search.find(old, { from, atEnd });
    if (start !== null) return { start, chunkLines };
    const last = chunkLines.at(-1);
    if (last?.kind !== ' ' || last.text !== '') return null;
  }
}

function oldLines(lines: readonly ChunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== '+').map(({ text }) => text);
}

function resulting(found: readonly FileLine[], chunkLines: readonly ChunkLine[], newEnd: '\n' | '\r\n'): TextLine[] {
  const result: TextLine[] = [];
  let index = 0;
  for (const { kind, text } of chunkLines) {
    const own = kind === '+' ? { text, end: newEnd } : found[index++];
    if (kind !== '-' && own !== undefined) result.push(own);
  }
  return result;
}
