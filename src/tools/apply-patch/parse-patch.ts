import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { eachNumber, resultOf } from '../../base/in-slices.ts';
import { FileLines } from './file-lines.ts';
import { PatchError } from './patch-error.ts';

/** A line of a chunk: kept, removed or added. */
export interface ChunkLine {
  kind: ' ' | '-' | '+';
  text: string;
}

/** A change at one place of a file. */
export interface Chunk {
  /** A line somewhere before the place. Null: the patch names none. */
  anchor: string | null;
  lines: ChunkLine[];
  /** Whether the lines must be the last lines of the file. */
  atEnd: boolean;
}

/** The change of one file. Paths are as the patch writes them. */
export type PatchOperation =
  | { type: 'add'; path: string; text: string }
  | { type: 'delete'; path: string }
  | { type: 'update'; path: string; moveTo: string | null; chunks: Chunk[] };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';
const MOVE = '*** Move to:';
const HEADER = /^\*\*\* (Add|Delete|Update) File:(.*)$/;
const HEREDOC = /^<<-?\s*(['"]?)([A-Za-z_][\w.-]*)\1$/;

/**
 * Parses a patch. Throws a PatchError with the number of the line, counted from 1, and what was
 * expected in that line. Accepts LF and CRLF in the patch.
 */
export async function parsePatch(patch: string, breaks: EventLoopYield): Promise<PatchOperation[]> {
  return resultOf(new PatchReader(await patchLines(patch, breaks)).operations(), breaks);
}

/** The lines of a patch, without a heredoc around it. */
async function patchLines(patch: string, breaks: EventLoopYield): Promise<string[]> {
  const lines: string[] = [];
  const trimmed = patch.trim();
  const split = await FileLines.of(trimmed, breaks);
  await eachNumber([0, split.count], (at) => lines.push(split.text(at)), breaks);
  const tag = HEREDOC.exec(lines[0]?.trim() ?? '')?.[2];
  const isWrapped = tag !== undefined && lines.length > 2 && lines.at(-1)?.trim() === tag;
  return isWrapped
    ? patchLines(trimmed.slice(trimmed.indexOf('\n') + 1, trimmed.lastIndexOf('\n')), breaks)
    : lines;
}

/** Reading that yields after each line. */
type Reading<Result> = Generator<void, Result, void>;

class PatchReader {
  readonly #lines: readonly string[];
  /** The index of the next line to read. */
  #next = 1;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  *operations(): Reading<PatchOperation[]> {
    const lines = this.#lines;
    if (lines[0]?.trim() !== BEGIN)
      throw new PatchError(`invalid patch: its first line must be '${BEGIN}'`);
    if (lines.length < 2 || lines.at(-1)?.trim() !== END)
      throw new PatchError(`invalid patch: its last line must be '${END}'`);
    const operations: PatchOperation[] = [];
    while (this.#line !== null) {
      if (this.#line.trim() === '') yield* this.#advance();
      else operations.push(yield* this.#operation(this.#line.trim()));
    }
    if (operations.length === 0) throw new PatchError('invalid patch: it changes no file');
    return operations;
  }

  /** The next line. Null at the end of the patch. */
  get #line(): string | null {
    return this.#next < this.#lines.length - 1 ? (this.#lines[this.#next] ?? null) : null;
  }

  /** Goes on to the next line. */
  *#advance(): Reading<void> {
    this.#next++;
    yield;
  }

  *#operation(header: string): Reading<PatchOperation> {
    const [, verb, name = ''] = HEADER.exec(header) ?? [];
    if (verb === undefined) {
      this.#fail(
        `'${header}' is not a file header; use '*** Add File: PATH', '*** Delete File: PATH' or '*** Update File: PATH'`,
      );
    }
    const path = this.#path(name);
    yield* this.#advance();
    if (verb === 'Add') return { type: 'add', path, text: yield* this.#addedText() };
    return verb === 'Delete' ? { type: 'delete', path } : yield* this.#update(path);
  }

  *#addedText(): Reading<string> {
    const lines: string[] = [];
    for (let line = this.#line; line?.startsWith('+'); line = this.#line) {
      lines.push(line.slice(1), '\n');
      yield* this.#advance();
    }
    return lines.join('');
  }

  *#update(path: string): Reading<PatchOperation> {
    let moveTo: string | null = null;
    if (this.#line?.startsWith(MOVE)) {
      moveTo = this.#path(this.#line.slice(MOVE.length));
      yield* this.#advance();
    }
    const chunks: Chunk[] = [];
    for (let line = this.#line; line !== null && !line.startsWith('***'); line = this.#line) {
      const isFirst = chunks.length === 0;
      if (line.trim() === '' && !isFirst) yield* this.#advance();
      else chunks.push(yield* this.#chunk(line, isFirst));
      // Drops blank lines between the file header and its first `@@`.
      if (
        isFirst &&
        line === '' &&
        chunks[0]?.lines.every(({ kind, text }) => kind === ' ' && text === '')
      )
        chunks.pop();
    }
    if (chunks.length === 0) this.#fail(`the update of '${path}' has no changes`);
    return { type: 'update', path, moveTo, chunks };
  }

  *#chunk(first: string, isFirst: boolean): Reading<Chunk> {
    const header = first.trimEnd();
    const isHeader = isPlace(header);
    if (isHeader) yield* this.#advance();
    else if (!isFirst)
      this.#fail(`expected '@@' or '@@ LINE' before the next change, found '${first}'`);
    const chunk: Chunk = {
      anchor: isHeader && header !== '@@' ? header.slice(3) : null,
      lines: [],
      atEnd: false,
    };
    for (let line = this.#line; line !== null && !chunk.atEnd; line = this.#line) {
      if (line.trimEnd() === END_OF_FILE) chunk.atEnd = true;
      else if (line.startsWith('***') || isPlace(line)) break;
      else chunk.lines.push(this.#chunkLine(line));
      yield* this.#advance();
    }
    if (chunk.lines.length === 0) this.#fail(`no lines follow '${header}'`);
    return chunk;
  }

  #chunkLine(line: string): ChunkLine {
    const [kind = ''] = line;
    if (kind === ' ' || kind === '-' || kind === '+') return { kind, text: line.slice(1) };
    if (line === '') return { kind: ' ', text: '' };
    return this.#fail(`expected a line that begins with ' ', '+' or '-', found '${line}'`);
  }

  #path(text: string): string {
    const path = text.trim();
    if (path === '' || path.includes('\0'))
      this.#fail('the path is empty or contains a NUL character');
    return path;
  }

  #fail(problem: string): never {
    throw new PatchError(`invalid patch, line ${this.#next + 1}: ${problem}`);
  }
}

function isPlace(line: string): boolean {
  return line.trimEnd() === '@@' || line.startsWith('@@ ');
}
