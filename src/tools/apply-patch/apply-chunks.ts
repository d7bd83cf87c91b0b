import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { FileLines, type TextLine } from './file-lines.ts';
import { LineSearch } from './line-search.ts';
import type { Chunk, ChunkLine } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';

const BOM = '\ufeff';

/** A range of lines in the file, and the lines that replace it. */
interface Edit {
  start: number;
  count: number;
  lines: TextLine[];
}

/** The file that chunks are applied to. */
interface File {
  /** The path for error messages. */
  path: string;
  lines: FileLines;
  newEnd: '\n' | '\r\n';
  breaks: EventLoopYield;
}

/**
 * Returns the content of a file after the chunks are applied. Kept lines keep their own text and line end; added lines get the
 * file's first line end. The result ends with a line end, unless it is empty. Throws a PatchError with the lines that were not
 * found; it names the file by `path`.
 */
export async function applyChunks(
  text: string,
  chunks: readonly Chunk[],
  { path, breaks }: { path: string; breaks: EventLoopYield },
): Promise<string> {
  const mark = text.startsWith(BOM) ? BOM : '';
  const unmarked = text.slice(mark.length);
  const lines = await FileLines.of(unmarked, breaks);
  const newEnd = lines.count > 0 && lines.end(0) === '\r\n' ? '\r\n' : '\n';
  const parts = [mark];
  let copied = 0;
  const copyTo = (index: number) => {
    parts.push(unmarked.slice(lines.start(copied), lines.start(index)));
    if (index > copied && lines.end(index - 1) === '') parts.push(newEnd);
  };
  for (const { start, count, lines: put } of await edits({ path, lines, newEnd, breaks }, chunks)) {
    copyTo(start);
    for (const line of put) parts.push(line.text, line.end || newEnd);
    copied = start + count;
    await breaks.worked(put.length);
  }
  copyTo(lines.count);
  await breaks.yielded();
  const result = parts.join('');
  if (result === mark) return '';
  // The patch may include the byte order mark in the first line.
  return result.startsWith(BOM + BOM) ? result.slice(1) : result;
}

/** Locates the chunks. Returns their edits in the order of the file. */
async function edits({ path, lines, newEnd, breaks }: File, chunks: readonly Chunk[]): Promise<Edit[]> {
  const wanted = chunks.flatMap(({ anchor, lines: chunkLines }) => [...(anchor === null ? [] : [anchor]), ...oldLines(chunkLines)]);
  const search = new LineSearch(lines, wanted, breaks);
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
      for (const { text } of chunkLines) appended.push({ text, end: newEnd });
      continue;
    }
    const count = oldLines(chunkLines).length;
    found.push({ start, count, lines: resulting(lines.slice(start, start + count), chunkLines, newEnd) });
    place = start + count;
  }
  return appended.length === 0 ? found : [...found, { start: lines.count, count: 0, lines: appended }];
}

/**
 * Finds the first line of a chunk. `start` is null if the chunk only adds lines. Returns null if the lines are not in the file.
 * Empty lines at the end of a chunk are dropped until it matches: models often write them before the next header.
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

function resulting(found: readonly TextLine[], chunkLines: readonly ChunkLine[], newEnd: '\n' | '\r\n'): TextLine[] {
  const result: TextLine[] = [];
  let index = 0;
  for (const { kind, text } of chunkLines) {
    const own = kind === '+' ? { text, end: newEnd } : found[index++];
    if (kind !== '-' && own !== undefined) result.push(own);
  }
  return result;
}
