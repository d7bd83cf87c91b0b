import { createHash } from 'node:crypto';
import { isAbsolute, relative, sep } from 'node:path';
import type { EventLoopYield } from '../../../base/event-loop-yield.ts';
import { inSlices } from '../../../base/in-slices.ts';
import { textPieces } from '../../../base/text/text-pieces.ts';
import type { PlannedChange } from './planned-change.ts';
import { unifiedDiff } from './unified-diff.ts';

/**
 * When the diff of a turn is longer than this, in UTF-16 code units, further files are listed
 * without their changes.
 */
const DIFF_CHARS_MAX = 16 * 1024 * 1024;
/** The work for a file besides its lines, counted as lines. */
const LINES_A_FILE = 100;
/** The text that is hashed at once, and the part of it that is as much work as a line. */
const HASHED_CHARS = 512 * 1024;
const CHARS_A_LINE = 200;
const ABSENT_HASH = '0'.repeat(40);

/** The state of a file at one moment. Null: the file does not exist. */
type State = { text: string; executable: boolean } | null;

/** The diff of a file, with the states that it was made from. */
interface ShownDiff {
  was: State;
  is: State;
  text: string;
}

interface DiffOptions {
  /** Whether the file is listed without its changes. */
  isBrief: boolean;
  breaks: EventLoopYield;
}

/**
 * One diff of all patches of a turn: each file against its state before the first patch of the turn
 * that touched it.
 */
export class TurnDiff {
  readonly #start = new Map<string, State>();
  readonly #now = new Map<string, State>();
  /** By the path of a renamed file: its path at the start of the turn. */
  #origins = new Map<string, string>();
  readonly #shown = new Map<string, ShownDiff>();

  /**
   * Adds the changes of a patch that were written. Files may swap names, so removed paths are
   * recorded before new ones.
   */
  take(changes: readonly PlannedChange[]): void {
    const origins = new Map(this.#origins);
    for (const { path, moveTo, before, replaced, mode, after } of changes) {
      if (after === null || moveTo !== null) origins.delete(path);
      this.#begin(path, state(before, mode));
      if (moveTo !== null) this.#begin(moveTo, state(replaced, null));
      this.#now.set(path, null);
    }
    for (const { path, moveTo, after, mode } of changes) {
      if (after === null) continue;
      this.#now.set(moveTo ?? path, state(after, mode));
      if (moveTo !== null) origins.set(moveTo, this.#origins.get(path) ?? path);
    }
    this.#origins = origins;
  }

  /**
   * The diff in git's format, with paths relative to `cwd`. Empty if no file differs from its first
   * state.
   */
  async text(cwd: string, breaks: EventLoopYield): Promise<string> {
    const renames = this.#renames();
    const left = new Set(renames.values());
    const parts: string[] = [];
    let chars = 0;
    for await (const path of inSlices([...this.#now.keys()].sort(), LINES_A_FILE, breaks)) {
      if (left.has(path)) continue;
      const part = await this.#fileText(
        { from: renames.get(path) ?? path, to: path, cwd },
        { isBrief: chars > DIFF_CHARS_MAX, breaks },
      );
      chars += part.length;
      parts.push(part);
    }
    return parts.join('');
  }

  #begin(path: string, was: State): void {
    if (!this.#start.has(path)) this.#start.set(path, was);
  }

  /**
   * By new path, the first path of each renamed file. Leaves out files that replaced another one or
   * whose first path has a file again.
   */
  #renames(): Map<string, string> {
    const isRename = ([to, from]: [string, string]) =>
      !this.#start.get(to) && this.#now.get(to) && this.#start.get(from) && !this.#now.get(from);
    return new Map([...this.#origins].filter(isRename));
  }

  async #fileText(
    { from, to, cwd }: { from: string; to: string; cwd: string },
    options: DiffOptions,
  ): Promise<string> {
    const [was, is] = [this.#start.get(from) ?? null, this.#now.get(to) ?? null];
    const known = this.#shown.get(to);
    if (known !== undefined && known.was === was && known.is === is) return known.text;
    const names = { from: diffPath(from, cwd), to: diffPath(to, cwd) };
    const text = await fileText({ was, is, ...names }, options);
    this.#shown.set(to, { was, is, text });
    return text;
  }
}

function state(text: string | null, mode: number | null): State {
  return text === null ? null : { text, executable: ((mode ?? 0) & 0o111) !== 0 };
}

async function fileText(
  { was, is, from, to }: { was: State; is: State; from: string; to: string },
  { isBrief, breaks }: DiffOptions,
): Promise<string> {
  const isSame = was?.text === is?.text;
  if (from === to && isSame) return '';
  const head = [`diff --git a/${from} b/${to}`, ...modeLines(was, is)];
  if (from !== to) head.push(`rename from ${from}`, `rename to ${to}`);
  if (!isSame) head.push(`index ${await blobHash(was, breaks)}..${await blobHash(is, breaks)}`);
  const hunks = isBrief ? '' : await unifiedDiff(was?.text ?? '', is?.text ?? '', breaks);
  if (hunks !== '')
    head.push(
      `--- ${was === null ? '/dev/null' : `a/${from}`}`,
      `+++ ${is === null ? '/dev/null' : `b/${to}`}`,
    );
  return `${head.join('\n')}\n${hunks}`;
}

function modeLines(was: State, is: State): string[] {
  if (was === null) return [`new file mode ${gitMode(is)}`];
  return is === null ? [`deleted file mode ${gitMode(was)}`] : [];
}

function gitMode(state: State): string {
  return state?.executable === true ? '100755' : '100644';
}

async function blobHash(state: State, breaks: EventLoopYield): Promise<string> {
  if (state === null) return ABSENT_HASH;
  const hash = createHash('sha1').update(`blob ${await bytesOf(state.text, breaks)}\0`);
  for await (const piece of piecesOf(state.text, breaks)) hash.update(piece);
  return hash.digest('hex');
}

function piecesOf(text: string, breaks: EventLoopYield): AsyncIterable<string> {
  return inSlices(textPieces(text, HASHED_CHARS), ({ length }) => length / CHARS_A_LINE, breaks);
}

/** The length of a text in UTF-8. */
async function bytesOf(text: string, breaks: EventLoopYield): Promise<number> {
  let bytes = 0;
  for await (const piece of piecesOf(text, breaks)) bytes += Buffer.byteLength(piece);
  return bytes;
}

function diffPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  const isBelow = way !== '' && !way.startsWith('..') && !isAbsolute(way);
  return (isBelow ? way : path.replace(/^\/+/, '')).split(sep).join('/');
}
