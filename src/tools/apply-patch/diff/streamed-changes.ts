import { parsedJson } from '../../../base/json-value.ts';
import type { FileUpdateChange } from '../../../protocol/generated/types.ts';

const HEADER = /^\*\*\* (Add|Delete|Update) File:(.*)$/;
const MOVE = /^\*\*\* Move to:(.*)$/;
const INPUT_BEGIN = /"input"\s*:\s*"/;
const ESCAPE_OR_END = /["\\]/g;
const ESCAPE_CHARS = 2;
const UNICODE_ESCAPE_CHARS = 6;

interface StreamedFile {
  path: string;
  kind: FileUpdateChange['kind'];
  lines: string[];
}

/**
 * The changes in the complete lines of a patch that is still being written, with paths as the patch
 * writes them.
 */
export function streamedChanges(written: string): FileUpdateChange[] {
  const files: StreamedFile[] = [];
  for (const line of written.slice(0, written.lastIndexOf('\n') + 1).split('\n')) {
    const begun = begunFile(line.trim());
    const current = files.at(-1);
    if (begun !== null) files.push(begun);
    else if (current !== undefined) takeLine(current, line);
  }
  return files.map(({ path, kind, lines }) => ({ path, kind, diff: lines.join('') }));
}

function begunFile(header: string): StreamedFile | null {
  const [, verb, path = ''] = HEADER.exec(header) ?? [];
  if (verb === undefined) return null;
  if (verb === 'Update')
    return { path: path.trim(), kind: { type: 'update', move_path: null }, lines: [] };
  return { path: path.trim(), kind: { type: verb === 'Add' ? 'add' : 'delete' }, lines: [] };
}

function takeLine({ kind, lines }: StreamedFile, line: string): void {
  if (kind.type === 'add' && line.startsWith('+')) lines.push(`${line.slice(1)}\n`);
  if (kind.type !== 'update') return;
  const moveTo = MOVE.exec(line)?.[1];
  if (moveTo !== undefined) kind.move_path = moveTo.trim();
  else if (/^[ +@-]/.test(line)) lines.push(`${line}\n`);
}

/**
 * The `input` string in JSON arguments that may be incomplete. An incomplete escape at the end is
 * dropped.
 */
export function streamedInput(args: string): string {
  const begin = INPUT_BEGIN.exec(args);
  if (begin === null) return '';
  const start = begin.index + begin[0].length;
  const input = parsedJson(`"${args.slice(start, inputEnd(args, start))}"`);
  return typeof input === 'string' ? input : '';
}

function inputEnd(args: string, start: number): number {
  let at = start;
  while (at < args.length) {
    ESCAPE_OR_END.lastIndex = at;
    const found = ESCAPE_OR_END.exec(args);
    if (found === null) return args.length;
    if (found[0] === '"') return found.index;
    at = found.index + (args[found.index + 1] === 'u' ? UNICODE_ESCAPE_CHARS : ESCAPE_CHARS);
    if (at > args.length) return found.index;
  }
  return at;
}
