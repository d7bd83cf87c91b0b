import { createHash } from 'node:crypto';
import { isAbsolute, relative, sep } from 'node:path';
import type { EventLoopYield } from '../../../base/event-loop-yield.ts';
import type { PlannedChange } from '../plan-patch.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The longest turn's diff, in characters: further files are named without their changes. */
const DIFF_CHARS_MAX = 16 * 1024 * 1024;
/** What a file costs beside its lines. */
const LINES_A_FILE = 100;
const ABSENT_HASH = '0'.repeat(40);

/** A file at one moment. Null: there is none. */
type State = { text: string; executable: boolean } | null;

/** What is shown of a file, with what it was made from. */
interface Shown {
  was: State;
  is: State;
  text: string;
}

/** How a file is shown. */
interface Manner {
  /** Without its changes. */
  isBrief: boolean;
  breaks: EventLoopYield;
}

/** What the patches of one turn have done, as one diff against how each file was when a patch of the turn first touched it. */
export class TurnDiff {
  readonly #start = new Map<string, State>();
  readonly #now = new Map<string, State>();
  /** By the path of a renamed file, the path that it had at first. */
  #origins = new Map<string, string>();
  readonly #shown = new Map<string, Shown>();

  /** Takes what was written of a patch. Names may have been swapped, so all that left comes before all that came. */
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

  /** In the form of git, paths from `cwd`. Empty where nothing has changed in the end. */
  async text(cwd: string, breaks: EventLoopYield): Promise<string> {
    const renames = this.#renames();
    const left = new Set(renames.values());
    const parts: string[] = [];
    let chars = 0;
    for (const path of [...this.#now.keys()].sort()) {
      if (left.has(path)) continue;
      const part = await this.#fileText({ from: renames.get(path) ?? path, to: path, cwd }, { isBrief: chars > DIFF_CHARS_MAX, breaks });
      chars += part.length;
      parts.push(part);
    }
    return parts.join('');
  }

  #begin(path: string, was: State): void {
    if (!this.#start.has(path)) this.#start.set(path, was);
  }

  /** Where renamed files were at first, but for those that stand where a file was, or whose first place has one again. */
  #renames(): Map<string, string> {
    const isRename = ([to, from]: [string, string]) =>
      !this.#start.get(to) && this.#now.get(to) && this.#start.get(from) && !this.#now.get(from);
    return new Map([...this.#origins].filter(isRename));
  }

  async #fileText({ from, to, cwd }: { from: string; to: string; cwd: string }, manner: Manner): Promise<string> {
    const [was, is] = [this.#start.get(from) ?? null, this.#now.get(to) ?? null];
    const known = this.#shown.get(to);
    if (known !== undefined && known.was === was && known.is === is) return known.text;
    const names = { from: shownPath(from, cwd), to: shownPath(to, cwd) };
    const text = await fileText({ was, is, ...names }, manner);
    this.#shown.set(to, { was, is, text });
    return text;
  }
}

function state(text: string | null, mode: number | null): State {
  return text === null ? null : { text, executable: ((mode ?? 0) & 0o111) !== 0 };
}

async function fileText(
  { was, is, from, to }: { was: State; is: State; from: string; to: string },
  { isBrief, breaks }: Manner,
): Promise<string> {
  await breaks.worked(LINES_A_FILE);
  const isSame = was?.text === is?.text;
  if (from === to && isSame) return '';
  const head = [`diff --git a/${from} b/${to}`, ...modeLines(was, is)];
  if (from !== to) head.push(`rename from ${from}`, `rename to ${to}`);
  if (!isSame) head.push(`index ${blobHash(was)}..${blobHash(is)}`);
  const hunks = isBrief ? '' : await unifiedDiff(was?.text ?? '', is?.text ?? '', breaks);
  if (hunks !== '') head.push(`--- ${was === null ? '/dev/null' : `a/${from}`}`, `+++ ${is === null ? '/dev/null' : `b/${to}`}`);
  return `${head.join('\n')}\n${hunks}`;
}

function modeLines(was: State, is: State): string[] {
  if (was === null) return [`new file mode ${gitMode(is)}`];
  return is === null ? [`deleted file mode ${gitMode(was)}`] : [];
}

function gitMode(state: State): string {
  return state?.executable === true ? '100755' : '100644';
}

function blobHash(state: State): string {
  if (state === null) return ABSENT_HASH;
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(state.text)}\0`)
    .update(state.text)
    .digest('hex');
}

function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  const isBelow = way !== '' && !way.startsWith('..') && !isAbsolute(way);
  return (isBelow ? way : path.replace(/^\/+/, '')).split(sep).join('/');
}
