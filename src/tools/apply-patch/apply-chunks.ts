import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices, joinParts, slicesOf } from '../../base/in-slices.ts';
import { FileLines, type TextLine } from './file-lines.ts';
import { LineSearch } from './line-search.ts';
import type { Chunk, ChunkLine } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';

const BOM = '\ufeff';
const LINES_AT_ONCE = 1_000;

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
 * Returns the content of a file after the chunks are applied. Kept lines keep their own text and
 * line end; added lines get the file's first line end. The result ends with a line end, unless it
 * is empty. Throws a PatchError with the lines that were not found; it names the file by `path`.
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
  for await (const { start, count, lines: put } of inSlices(
    await edits({ path, lines, newEnd, breaks }, chunks),
    1,
    breaks,
  )) {
    copyTo(start);
    for await (const some of inSlices(slicesOf(put, LINES_AT_ONCE), ({ length }) => length, breaks))
      parts.push(some.map(({ text: line, end }) => line + (end || newEnd)).join(''));
    copied = start + count;
  }
  copyTo(lines.count);
  const result = await joinParts(parts, breaks);
  if (result === mark) return '';
  // The patch may include the byte order mark in the first line.
  return result.startsWith(BOM + BOM) ? result.slice(1) : result;
}

/** Locates the chunks. Returns their edits in the order of the file. */
async function edits(file: File, chunks: readonly Chunk[]): Promise<Edit[]> {
  const { path, lines, newEnd, breaks } = file;
  const search = new LineSearch(lines, await wantedLines(chunks, breaks), breaks);
  const found: Edit[] = [];
  const appended: TextLine[] = [];
  let place = 0;
  for (const chunk of chunks) {
    if (chunk.anchor !== null) {
      const anchor = await search.find([chunk.anchor], { from: place });
      if (anchor === null)
        throw new PatchError(`Failed to find the line '${chunk.anchor}' in ${path}`);
      place = anchor + 1;
    }
    const located = await locate(search, chunk, place);
    if (located === null)
      throw new PatchError(
        `Failed to find expected lines in ${path}:\n${oldLines(chunk.lines).join('\n')}`,
      );
    const { start, count, chunkLines } = located;
    if (start === null) {
      for (const { text } of chunkLines) appended.push({ text, end: newEnd });
      continue;
    }
    found.push({ start, count, lines: await resulting(file, start, chunkLines) });
    place = start + count;
  }
  return appended.length === 0
    ? found
    : [...found, { start: lines.count, count: 0, lines: appended }];
}

/** The lines of the file that the chunks name. */
async function wantedLines(chunks: readonly Chunk[], breaks: EventLoopYield): Promise<string[]> {
  const wanted: string[] = [];
  for await (const { anchor, lines } of inSlices(chunks, ({ lines }) => lines.length, breaks)) {
    if (anchor !== null) wanted.push(anchor);
    for (const line of oldLines(lines)) wanted.push(line);
  }
  return wanted;
}

/**
 * Finds the lines of a chunk, from `start` on. `start` is null if the chunk only adds lines.
 * Returns null if the lines are not in the file. Empty lines at the end of a chunk are dropped
 * until it matches: models often write them before the next header.
 */
async function locate(
  search: LineSearch,
  { lines, atEnd }: Chunk,
  from: number,
): Promise<{ start: number | null; count: number; chunkLines: readonly ChunkLine[] } | null> {
  for (let chunkLines = lines; ; chunkLines = chunkLines.slice(0, -1)) {
    const old = oldLines(chunkLines);
    if (old.length === 0)
      return chunkLines.length === 0 ? null : { start: null, count: 0, chunkLines };
    const start = await search.find(old, { from, atEnd });
    if (start !== null) return { start, count: old.length, chunkLines };
    const last = chunkLines.at(-1);
    if (last?.kind !== ' ' || last.text !== '') return null;
  }
}

function oldLines(lines: readonly ChunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== '+').map(({ text }) => text);
}

/** The kept and the added lines of a chunk whose lines were found at `start`. */
async function resulting(
  { lines, newEnd, breaks }: File,
  start: number,
  chunkLines: readonly ChunkLine[],
): Promise<TextLine[]> {
  const result: TextLine[] = [];
  let index = start;
  for await (const some of inSlices(slicesOf(chunkLines, LINES_AT_ONCE), LINES_AT_ONCE, breaks))
    for (const { kind, text } of some) {
      if (kind === '+') result.push({ text, end: newEnd });
      else if (kind === ' ') result.push(lines.line(index));
      if (kind !== '+') index++;
    }
  return result;
}
