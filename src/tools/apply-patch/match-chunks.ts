import { type FileLine, fileLines } from './file-lines.ts';
import { LineSearch } from './line-search.ts';
import type { Chunk } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';

const BOM = '\ufeff';

/** Lines of the file that are replaced, by others. */
interface Edit {
  start: number;
  count: number;
  lines: FileLine[];
}

/**
 * The text that a file has once the chunks are applied to it. Lines that stay keep their own text and line end; the file's
 * first line end is that of the lines put in. The result ends with a line end, unless it is empty. Throws a PatchError that
 * says what was looked for and not found; `path` is how it calls the file.
 */
export function applyChunks(text: string, chunks: readonly Chunk[], path: string): string {
  const mark = text.startsWith(BOM) ? BOM : '';
  const lines = fileLines(text.slice(mark.length));
  const newEnd = lines[0]?.end === '\r\n' ? '\r\n' : '\n';
  const parts = [mark];
  let copied = 0;
  for (const { start, count, lines: put } of edits(lines, chunks, { path, newEnd })) {
    write(parts, lines, { from: copied, to: start, newEnd });
    write(parts, put, { from: 0, to: put.length, newEnd });
    copied = start + count;
  }
  write(parts, lines, { from: copied, to: lines.length, newEnd });
  const result = parts.join('');
  if (result === mark) return '';
  // A patch may write the mark of the first line with it.
  return result.startsWith(BOM + BOM) ? result.slice(1) : result;
}

function write(
  parts: string[],
  lines: readonly FileLine[],
  { from, to, newEnd }: { from: number; to: number; newEnd: '\n' | '\r\n' },
): void {
  for (let index = from; index < to; index++) {
    const line = lines[index];
    if (line !== undefined) parts.push(line.text, line.end || newEnd);
  }
}

/** Where each chunk belongs, in the order of the file. */
function edits(lines: readonly FileLine[], chunks: readonly Chunk[], { path, newEnd }: { path: string; newEnd: '\n' | '\r\n' }): Edit[] {
  const search = new LineSearch(lines.map(({ text }) => text));
  const found: Edit[] = [];
  const appended: FileLine[] = [];
  let place = 0;
  for (const chunk of chunks) {
    if (chunk.anchor !== null) {
      const anchor = search.find([chunk.anchor], { from: place });
      if (anchor === null) throw new PatchError(`Failed to find the line '${chunk.anchor}' in ${path}`);
      place = anchor + 1;
    }
    if (chunk.lines.every(({ kind }) => kind === '+')) {
      appended.push(...chunk.lines.map(({ text }) => ({ text, end: newEnd })));
      continue;
    }
    const edit = locate(search, chunk, place);
    if (edit === null) throw new PatchError(`Failed to find expected lines in ${path}:\n${oldLines(chunk.lines).join('\n')}`);
    const put = resulting(lines.slice(edit.start, edit.start + edit.count), edit.chunkLines, newEnd);
    found.push({ start: edit.start, count: edit.count, lines: put });
    place = edit.start + edit.count;
  }
  return appended.length === 0 ? found : [...found, { start: lines.length, count: 0, lines: appended }];
}

/** A chunk may have more empty lines at its end than the file: those in front of the next header, mostly. */
function locate(search: LineSearch, { lines, atEnd }: Chunk, from: number) {
  for (let chunkLines = lines; ; chunkLines = chunkLines.slice(0, -1)) {
    const old = oldLines(chunkLines);
    if (old.length === 0) return null;
    const start = search.find(old, { from, atEnd });
    if (start !== null) return { start, count: old.length, chunkLines };
    const last = chunkLines.at(-1);
    if (last?.kind !== ' ' || last.text !== '') return null;
  }
}

function oldLines(lines: Chunk['lines']): string[] {
  return lines.filter(({ kind }) => kind !== '+').map(({ text }) => text);
}

function resulting(found: readonly FileLine[], chunkLines: Chunk['lines'], newEnd: '\n' | '\r\n'): FileLine[] {
  const result: FileLine[] = [];
  let index = 0;
  for (const { kind, text } of chunkLines) {
    const own = kind === '+' ? { text, end: newEnd } : found[index++];
    if (kind !== '-' && own !== undefined) result.push(own);
  }
  return result;
}
