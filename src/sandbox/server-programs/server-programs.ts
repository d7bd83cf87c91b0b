import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { fileState } from '../../base/paths/file-state.ts';
import { followPath } from '../../base/paths/follow-path.ts';
import { programFiles } from './program-files.ts';
import { type ProgramLine, programLine } from './program-line.ts';
import { type ProgramFile, programKey, type ServerProgram } from './server-program.ts';
import { allStartFiles } from './shell-start-files.ts';

/**
 * How long the files of a program are not looked for again. Commands cannot change the links on the
 * way to them.
 */
const AGE_MS_MAX = 5_000;
/** The most programs whose files are kept. */
const PROGRAMS_MAX = 1_000;
/** The most facts about files that are remembered because commands could write them. */
const EXPOSED_MAX = 20_000;
/** Facts beyond these share so many marks. */
const LOST_MARKS = 2 ** 20;
/** Above this number, those of programs that are not loaded any more are forgotten. */
const EXPOSED_KEPT = 10_000;
/** The work of finding the files of a program, in the units of `EventLoopYield`. */
const PROGRAM_UNITS = 50;
/** The work of comparing a file with what is remembered. */
const FACT_UNITS = 2;
/** The state of a file that does not exist. */
const ABSENT = '';
/**
 * The subject of a fact: how a path leads to its end, or what is there. Both words have the same
 * length.
 */
const WAY = 'way ';
const END = 'end ';

/** A file that a program runs, and where its path leads. */
export interface KnownFile extends ProgramFile {
  /** What it belongs to, for errors. */
  of: string;
  /** Its path without links. Nothing need be there. */
  end: string;
  /** The links on the way, by their own real paths. */
  links: readonly string[];
}

/** The state of running and past commands. */
interface Commands {
  /** Whether a command that runs now can write one of these real paths. */
  canWrite(paths: readonly string[]): boolean;
  /** Whether what is at a path is only there to keep commands from creating something. */
  isGuard(path: string): boolean;
}

export interface ServerProgramsDeps {
  clock: Pick<Clock, 'monotonic'>;
  /** The environment of the server, whose home folder has the start files of shells. */
  env: Env;
}

/**
 * Knows the programs that the server starts outside the sandbox, and the files that they run. The
 * sandbox protects these files from commands. A file that it could not protect is remembered as it
 * was, and a program is not started if it has changed since.
 */
export class ServerPrograms {
  readonly #deps: ServerProgramsDeps;
  #list: () => readonly ServerProgram[] = () => [];
  readonly #lines = new Map<string, ProgramLine>();
  readonly #known = new Map<string, { files: readonly KnownFile[]; until: number }>();
  /** The files at paths, and how these led there, when commands could first change that. */
  readonly #exposed = new Map<string, string>();
  #forgetAbove = EXPOSED_KEPT;
  /** The facts that are being looked at in order to be forgotten. */
  #forgettable = new Set<string>();
  /** Marks of the facts that could not be remembered, by their hashes. Null: there are none. */
  #lost: Uint8Array | null = null;

  constructor(deps: ServerProgramsDeps) {
    this.#deps = deps;
  }

  /** Sets the function that returns the programs that the server may start now. */
  listBy(list: () => readonly ServerProgram[]): void {
    this.#list = list;
  }

  /**
   * Returns the files of all programs and of login shells, shallow ones first: a folder spares
   * those in it a mount of their own.
   */
  async files(): Promise<KnownFile[]> {
    const breaks = new EventLoopYield();
    const programs = new Map(this.#list().map((program) => [programKey(program), program]));
    const all = [...this.#kept('', 'a login shell', () => allStartFiles(this.#deps.env))];
    for await (const [key, program] of inSlices(programs, PROGRAM_UNITS, breaks)) {
      const line = await this.#line(program);
      all.push(...this.#kept(key, program.of, () => programFiles(program, line)));
    }
    const files = unique(all).sort((one, other) => one.end.length - other.end.length);
    if (this.#exposed.size > this.#forgetAbove) await this.#forgetOthers(files, breaks);
    return files;
  }

  /**
   * Remembers a file as it is: commands can replace the links on its way, or also what is at their
   * end.
   */
  expose(
    file: KnownFile,
    { isEndOpen, isGuard }: { isEndOpen: boolean; isGuard: Commands['isGuard'] },
  ): void {
    this.#remember(wayKey(file.path), () => wayOf(file.path));
    if (isEndOpen) this.#remember(endKey(file.path), () => stateOf(file.path, isGuard));
  }

  /** Remembers the files of programs that are new, if a command runs that can write them. */
  async note(commands: Commands): Promise<void> {
    this.#exposeTo(commands, await this.files());
  }

  /**
   * Returns why a program must not be started: one of its files is another one than when commands
   * could first write it, or that is not known. Null: it may.
   */
  async refusal(program: ServerProgram, commands: Commands): Promise<string | null> {
    const files = known(programFiles(program, await this.#line(program)), program.of);
    this.#exposeTo(commands, files);
    const changed = files.find(
      ({ path }) =>
        this.#isOther(wayKey(path), () => wayOf(path)) ||
        this.#isOther(endKey(path), () => stateOf(path, (one) => commands.isGuard(one))),
    );
    if (changed !== undefined) return refusalText(changed, program.kind);
    const isUnknown = files.some(
      ({ path }) => this.#isLost(wayKey(path)) || this.#isLost(endKey(path)),
    );
    return isUnknown ? overfullText(program.of) : null;
  }

  /** Whether a command that runs now can write a file of a program, or a link on the way to it. */
  async isExposed(program: ServerProgram, { canWrite }: Commands): Promise<boolean> {
    const files = known(programFiles(program, await this.#line(program)), program.of);
    return files.some(({ end, links }) => canWrite([end, ...links]));
  }

  #exposeTo({ canWrite, isGuard }: Commands, files: readonly KnownFile[]): void {
    for (const file of files) {
      const isEndOpen = canWrite([file.end]);
      if (isEndOpen || canWrite(file.links)) this.expose(file, { isEndOpen, isGuard });
    }
  }

  #remember(key: string, state: () => string): void {
    this.#forgettable.delete(key);
    // The state of a lost fact may have changed since.
    if (this.#exposed.has(key) || this.#isLost(key)) return;
    if (this.#exposed.size < EXPOSED_MAX) this.#exposed.set(key, state());
    else {
      this.#lost ??= new Uint8Array(LOST_MARKS);
      this.#lost[markOf(key)] = 1;
    }
  }

  /**
   * Whether a fact could not be remembered. Another one may have the same mark: then a program too
   * many is refused.
   */
  #isLost(key: string): boolean {
    return this.#lost !== null && this.#lost[markOf(key)] === 1 && !this.#exposed.has(key);
  }

  /** Forgets the files of programs that are not loaded, unless they have changed. */
  async #forgetOthers(files: readonly KnownFile[], breaks: EventLoopYield): Promise<void> {
    this.#forgetAbove = Number.POSITIVE_INFINITY;
    const named = new Set(files.flatMap(({ path }) => [wayKey(path), endKey(path)]));
    this.#forgettable = new Set([...this.#exposed.keys()].filter((key) => !named.has(key)));
    for await (const key of inSlices(this.#forgettable, FACT_UNITS, breaks)) {
      const path = key.slice(WAY.length);
      const now = key.startsWith(WAY) ? wayOf(path) : stateOf(path, () => false);
      if (now === this.#exposed.get(key)) this.#exposed.delete(key);
    }
    this.#forgetAbove = Math.min(EXPOSED_MAX - 1, EXPOSED_KEPT + this.#exposed.size / 2);
  }

  #isOther(key: string, state: () => string): boolean {
    const before = this.#exposed.get(key);
    return before !== undefined && before !== state();
  }

  async #line(program: ServerProgram): Promise<ProgramLine> {
    const key = programKey(program);
    const line = this.#lines.get(key) ?? (await programLine(program));
    if (this.#lines.size >= PROGRAMS_MAX) this.#lines.clear();
    // The script of an approved command is another one each time.
    if (program.kind === 'configured') this.#lines.set(key, line);
    return line;
  }

  #kept(key: string, of: string, find: () => ProgramFile[]): readonly KnownFile[] {
    const now = this.#deps.clock.monotonic();
    const kept = this.#known.get(key);
    if (kept !== undefined && now < kept.until) return kept.files;
    const files = known(find(), of);
    if (this.#known.size >= PROGRAMS_MAX) this.#known.clear();
    this.#known.set(key, { files, until: now + AGE_MS_MAX });
    return files;
  }
}

function known(files: readonly ProgramFile[], of: string): KnownFile[] {
  return files.map((file) => {
    const { end, links } = followPath(file.path);
    return { ...file, of, end, links: links.map(({ link }) => link) };
  });
}

/**
 * Files by their paths. Of several programs, the one that needs the most protection counts for all.
 */
function unique(files: readonly KnownFile[]): KnownFile[] {
  const byPath = new Map<string, KnownFile>();
  for (const file of files) {
    const other = byPath.get(file.path);
    if (other === undefined || strength(file) > strength(other)) byPath.set(file.path, file);
  }
  return [...byPath.values()];
}

function strength({ ifAbsent, leavesLinks }: ProgramFile): number {
  return (ifAbsent === 'guard' ? 2 : 0) + (leavesLinks === true ? 0 : 1);
}

function wayKey(path: string): string {
  return `${WAY}${path}`;
}

function endKey(path: string): string {
  return `${END}${path}`;
}

function markOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32LE() % LOST_MARKS;
}

/** Where a path leads, and through which links. */
function wayOf(path: string): string {
  const { end, links } = followPath(path);
  return JSON.stringify([end, links]);
}

/** Commands in a folder change its entries, which are not compared: only whether it is there. */
function stateOf(path: string, isGuard: (path: string) => boolean): string {
  const state = fileState(path);
  return state === null || isGuard(path) ? ABSENT : state.isFolder ? 'folder' : state.text;
}

function refusalText({ end, of, path }: KnownFile, kind: ServerProgram['kind']): string {
  const shown = end === path ? path : `${path} (${end})`;
  const remedy =
    kind === 'approved'
      ? 'or run the command without a login shell'
      : 'or use a program, a script and a working directory (`cwd`) that commands cannot write';
  return (
    `${shown} is new or has changed while commands in the sandbox could write it, and ${of} would run it outside the sandbox. ` +
    `Look at what changed. If it is right, start heddle again, ${remedy}.`
  );
}

function overfullText(of: string): string {
  return (
    `Commands in the sandbox could write so many files of programs (more than ${EXPOSED_MAX / 2}) that heddle cannot tell whether those of ` +
    `${of} have changed. Look at what changed. If it is right, start heddle again, and use programs that commands cannot write.`
  );
}
