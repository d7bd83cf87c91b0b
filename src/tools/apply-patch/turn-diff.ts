import { createHash } from 'node:crypto';
import { isAbsolute, relative, sep } from 'node:path';
import type { PlannedChange } from './plan-patch.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The longest turn's diff, in characters: further files are named without their changes. */
const DIFF_CHARS_MAX = 16 * 1024 * 1024;
const ABSENT_HASH = '0'.repeat(40);

/** A file at one moment. Null: there is none. */
type State = { text: string; executable: boolean } | null;

/** What the patches of one turn have done, as one diff against how each file was when a patch of the turn first touched it. */
export class TurnDiff {
  readonly #start = new Map<string, State>();
  readonly #now = new Map<string, State>();
  /** By the path of a renamed file, the path that it had at first. */
  readonly #origins = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  /** Takes what was written of a patch, in order. */
  take(changes: readonly PlannedChange[]): void {
    for (const { path, moveTo, before, after, mode } of changes) {
      const executable = ((mode ?? 0) & 0o111) !== 0;
      const was = before === null ? null : { text: before, executable };
      const is = after === null ? null : { text: after, executable };
      this.#set(path, was, moveTo === null ? is : null);
      if (moveTo === null) continue;
      this.#set(moveTo, null, is);
      this.#origins.set(moveTo, this.#origins.get(path) ?? path);
    }
  }

  /** In the form of git, paths from `cwd`. Empty where nothing has changed in the end. */
  async text(cwd: string): Promise<string> {
    const parts: string[] = [];
    let chars = 0;
    for (const path of [...this.#now.keys()].sort()) {
      if (this.#isLeftByRename(path)) continue;
      const part = await this.#fileText(path, { cwd, isFull: chars > DIFF_CHARS_MAX });
      chars += part.length;
      parts.push(part);
    }
    return parts.join('');
  }

  #set(path: string, was: State, is: State): void {
    if (!this.#start.has(path)) this.#start.set(path, was);
    this.#now.set(path, is);
    this.#texts.clear();
  }

  /** Of a renamed file, where it was at first; null where something was there before, or stands where it was. */
  #origin(path: string): string | null {
    const origin = this.#origins.get(path);
    if (origin === undefined || this.#start.get(path) || !this.#now.get(path)) return null;
    return this.#start.get(origin) && !this.#now.get(origin) ? origin : null;
  }

  #isLeftByRename(path: string): boolean {
    return [...this.#origins.keys()].some((to) => this.#origin(to) === path);
  }

  async #fileText(path: string, { cwd, isFull }: { cwd: string; isFull: boolean }): Promise<string> {
    const origin = this.#origin(path);
    const [was, is] = [this.#start.get(origin ?? path) ?? null, this.#now.get(path) ?? null];
    if (origin === null && was?.text === is?.text) return '';
    const [from, to] = [shown(origin ?? path, cwd), shown(path, cwd)];
    const head = [`diff --git a/${from} b/${to}`, ...modeLines(was, is)];
    if (origin !== null) head.push(`rename from ${from}`, `rename to ${to}`);
    if (was?.text === is?.text) return `${head.join('\n')}\n`;
    head.push(`index ${blobHash(was)}..${blobHash(is)}`);
    if (isFull) return `${head.join('\n')}\n`;
    const hunks = await unifiedDiff(was?.text ?? '', is?.text ?? '');
    if (hunks !== '') head.push(`--- ${was === null ? '/dev/null' : `a/${from}`}`, `+++ ${is === null ? '/dev/null' : `b/${to}`}`);
    return `${head.join('\n')}\n${hunks}`;
  }
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
  return createHash('sha1').update(`blob ${Buffer.byteLength(state.text)}\0`).update(state.text).digest('hex');
}

function shown(path: string, cwd: string): string {
  const way = relative(cwd, path);
  const isBelow = way !== '' && !way.startsWith('..') && !isAbsolute(way);
  return (isBelow ? way : path.replace(/^\/+/, '')).split(sep).join('/');
}
