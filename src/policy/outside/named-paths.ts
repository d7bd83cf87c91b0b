import { isAbsolute, join, resolve } from 'node:path';
import type { Env } from '../../base/env.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import { programName } from '../parse/program-name.ts';
import type { SimpleCommand } from '../parse/simple-command.ts';
import { CODE_SOURCES } from './code-sources.ts';
import { BETWEEN, type LineWords, lineWords, OPTION } from './line-words.ts';
import { mayRun, PASSES_NOTHING } from './passes-other-text.ts';
import { programKind } from './program-kind.ts';

/** A command with its working directory and its environment. */
export interface PinnedCommand {
  command: ParsedCommand;
  /** The absolute path of the working directory. It need not exist. */
  cwd: string;
  /** The real path of `cwd`. Shells start there, and some resolve `cd ..` from there. */
  realCwd: string;
  /** Its environment. */
  env: Env;
}

/** The places that a command depends on. All paths are absolute, links are not resolved. */
export interface NamedPaths {
  /** Files that the command may run as code, and folders that it works in. */
  code: ReadonlySet<string>;
  /**
   * Files whose content may reach a program that is not known. Folders of these names do not count.
   */
  content: ReadonlySet<string>;
  /** Files that the command reads or changes as data. */
  data: ReadonlySet<string>;
  /**
   * Names of files that its programs read as code without being told, from a folder that they work
   * in or the nearest above it.
   */
  sought: ReadonlySet<string>;
  /** The folders that its programs may work in. */
  folders: readonly string[];
  /**
   * The words that may name files in any folder that the line names, relative to it. They may name
   * folders, too.
   */
  words: ReadonlySet<string>;
  /** Further words that may name such folders. */
  places: ReadonlySet<string>;
  /** Those of the words that may name a file without the end of its name. */
  stems: ReadonlySet<string>;
  /**
   * Folders below those that it works in, or above these, in which its programs look for others by
   * the words.
   */
  programFolders: ReadonlySet<string>;
  /** Whether one of its programs uses the repository of its working directory. */
  usesGit: boolean;
  /**
   * Whether these are all files that the line itself may name. If not, a word of it is known only
   * to a shell.
   */
  areAll: boolean;
}

/** A command that names more paths is not examined, and no rule lets it leave the sandbox. */
export const PATHS_MAX = 2048;
const FOLDERS_MAX = 8;
/** The characters that separate names in a word whose language is not known. */
const BETWEEN_NAMES = /[\s;|&<>(){}[\]'"`$\\=,:!?*@%^~#+]+/;
/** Changes to the home folder, or back to the folder before. */
const RETURNS = /(?<![\w-])(?:cd|chdir|pushd|popd)(?=[ \t]*(?:$|[;|&)\n-]))/;
/** A word that can be the name of a program, and is not an option. */
const PROGRAM_NAME = /^[^-/\s\0][^/\s\0]*$/;

/**
 * Returns the places that a command names or is known to read. Returns null if it names too many,
 * or in unknown folders.
 */
export function namedPaths({ command, cwd, realCwd, env }: PinnedCommand): NamedPaths | null {
  const found = new Collector();
  found.enter([...new Set([cwd, realCwd])]);
  const searched = (env.PATH ?? '').split(':');
  found.takePrograms(command, searched);
  const line = lineWords(command);
  if (!found.takeLine(line, possibleFolders(line.commands, [cwd, realCwd], env.HOME))) return null;
  for (const possible of command.possibleCommands) found.takeStems(possible);
  const returned = RETURNS.test(command.text) ? [env.HOME ?? '', env.OLDPWD ?? ''] : [];
  found.takePlaces([
    ...searched.filter((folder) => !isAbsolute(folder)),
    ...(env.CDPATH ?? '').split(':'),
    ...returned,
  ]);
  return found.result(line.areAll);
}

/** Returns the paths that the words of a simple command may stand for in these folders. */
export function possiblePaths(words: readonly string[], folders: readonly string[]): string[] {
  const parts = new Set(words.flatMap((word) => [word, ...partsOf(word), ...word.split(BETWEEN)]));
  return [...parts]
    .filter((part) => part !== '' && !part.includes('\0'))
    .flatMap((part) => folders.map((folder) => resolve(folder, part)));
}

/**
 * Returns the folders that a script may be in before each of its commands. It begins in one of
 * `starts`. A `cd` or `pushd` adds folders. Null: the folder is not known. `home` is the folder of
 * a `cd` without words.
 */
export function possibleFolders(
  commands: readonly SimpleCommand[],
  starts: readonly string[],
  home = '',
): (readonly string[] | null)[] {
  let folders: readonly string[] | null = [...new Set(starts)];
  return commands.map(({ words: [program, ...args] }) => {
    const before = folders;
    if ((program === 'cd' || program === 'pushd') && folders !== null) {
      const [target = home, ...others] = args;
      const isCertain = target !== '' && others.length === 0 && !/^[-+]/.test(target);
      const all = isCertain
        ? [...new Set([...folders, ...folders.map((folder) => resolve(folder, target))])]
        : [];
      folders = isCertain && all.length <= FOLDERS_MAX ? all : null;
    }
    return before;
  });
}

class Collector {
  readonly #code = new Set<string>();
  readonly #content = new Set<string>();
  readonly #data = new Set<string>();
  readonly #sought = new Set<string>();
  /** The folders that the next words start from. */
  #folders: readonly string[] = [];
  readonly #allFolders = new Set<string>();
  readonly #words = new Set<string>();
  readonly #places = new Set<string>();
  readonly #stems = new Set<string>();
  readonly #programFolders = new Set<string>();
  #usesGit = false;

  /** Resolves the next words in each of these folders. */
  enter(folders: readonly string[]): void {
    this.#folders = folders;
    for (const folder of folders) {
      this.#code.add(folder);
      this.#allFolders.add(folder);
    }
  }

  /** The files that its programs may be, in the folders that are searched for programs. */
  takePrograms({ commands, possibleCommands }: ParsedCommand, searched: readonly string[]): void {
    // A program that is not known may start others by their names. Shells look there for `. FILE`
    // and `sh FILE`, too.
    const startable = ({ words }: SimpleCommand) =>
      programKind(words) === 'unknown' ? words : words.slice(0, 1);
    for (const name of new Set([...(commands ?? []), ...possibleCommands].flatMap(startable)))
      if (PROGRAM_NAME.test(name))
        this.#add(
          this.#code,
          searched.map((folder) => join(folder, name)),
        );
  }

  /** Folders that a shell looks in for names. */
  takePlaces(folders: readonly string[]): void {
    for (const folder of folders) if (folder !== '') this.#places.add(folder);
  }

  /**
   * Takes a line, with the possible folders of each of its commands. Returns false if one of these
   * is not known.
   */
  takeLine(
    { commands, mayRunAll, others, code }: LineWords,
    folders: readonly (readonly string[] | null)[],
  ): boolean {
    for (const [index, simple] of commands.entries()) {
      const here = folders[index] ?? null;
      if (here === null) return false;
      this.enter(here);
      this.#take(simple, mayRunAll);
      for (const word of others) this.#takeData(word, mayRunAll);
    }
    for (const words of code) this.#takeCode(words);
    if (mayRunAll) for (const word of others) this.#words.add(word);
    return true;
  }

  /**
   * `mayRunAll`: another program of the line is not known, so it may run what this one reads or
   * writes.
   */
  #take({ words }: SimpleCommand, mayRunAll: boolean): void {
    const [program = '', ...args] = words;
    const kind = programKind(words);
    if (kind === 'unknown') {
      this.#takeCode(words);
      return;
    }
    this.#usesGit ||= kind === 'git';
    if (mayRunAll && !PASSES_NOTHING.has(program)) for (const word of args) this.#places.add(word);
    for (const word of args) this.#takeData(word, mayRunAll && !PASSES_NOTHING.has(program));
  }

  /** `isPassedOn`: a program that is not known may run what is in the file. */
  #takeData(word: string, isPassedOn: boolean): void {
    const parts = [word, ...partsOf(word)];
    this.#add(this.#data, parts);
    if (isPassedOn) this.#add(this.#content, parts);
  }

  result(areAll: boolean): NamedPaths | null {
    if (this.#code.size + this.#content.size + this.#data.size > PATHS_MAX) return null;
    return {
      code: this.#code,
      content: this.#content,
      data: this.#data,
      sought: this.#sought,
      folders: [...this.#allFolders],
      words: this.#words,
      places: this.#places,
      stems: this.#stems,
      programFolders: this.#programFolders,
      usesGit: this.#usesGit,
      areAll,
    };
  }

  /** Words of a command that may name files without the ends of their names. */
  takeStems({ words }: SimpleCommand): void {
    if (!mayRun({ words })) return;
    const parts = words.flatMap(splitNames);
    const isTask = CODE_SOURCES.get(programName(words[0] ?? ''))?.takesTasks === true;
    for (const part of [...words, ...words.flatMap(partsOf), ...parts, ...parts.flatMap(gluedIn)])
      if (!isTask || part.includes('/')) this.#stems.add(part);
  }

  /** Words that may name code, also in the folders that options among them name. */
  #takeCode(words: readonly string[]): void {
    const here = this.#folders;
    const parts = words.flatMap(splitNames);
    const values = parts.filter(
      (part, index) => OPTION.test(parts[index - 1] ?? '') && part !== '' && !OPTION.test(part),
    );
    const glued = parts.flatMap(gluedIn);
    this.enter([
      ...new Set([
        ...here,
        ...[...values, ...glued].flatMap((value) => here.map((folder) => resolve(folder, value))),
      ]),
    ]);
    for (const word of [...words, ...parts]) {
      const program = programName(word);
      const { files = [], folder } = CODE_SOURCES.get(program) ?? {};
      for (const name of files) this.#sought.add(name);
      if (folder !== undefined) this.#programFolders.add(folder);
      this.#usesGit ||= program === 'git';
    }
    const named = [...words, ...words.flatMap(partsOf), ...parts, ...glued];
    for (const word of named) this.#words.add(word);
    this.#add(this.#code, named);
    this.#folders = here;
  }

  #add(to: Set<string>, words: readonly string[]): void {
    for (const word of words) {
      if (word === '' || word.includes('\0') || to.size > PATHS_MAX) continue;
      for (const folder of this.#folders) {
        to.add(resolve(folder, word));
        // Behind a link, `..` is the folder above the one that the link leads to.
        if (word.includes('..')) to.add(isAbsolute(word) ? word : `${folder}/${word}`);
      }
    }
  }
}

/** The names in a word, which may be a script for another shell or in another language. */
function splitNames(word: string): string[] {
  return word.split(BETWEEN_NAMES);
}

function gluedIn(part: string): string[] {
  const [, value] = /^-[A-Za-z](.+)$/.exec(part) ?? [];
  return value === undefined ? [] : [value];
}

/**
 * The parts of a word that may be paths: the value of an option, of an assignment, of `@file`, and
 * the parts of a list.
 */
function partsOf(word: string): string[] {
  const value = /^(?:-{1,2}[^=]*|[^=/]+)=(.+)$/s.exec(word)?.[1];
  const short = /^-[A-Za-z](.+)$/s.exec(word)?.[1];
  const parts = [value, short, /^@(.+)$/s.exec(word)?.[1]].filter((part) => part !== undefined);
  return [
    ...parts,
    ...[word, ...parts].flatMap((part) => (/[:,]/.test(part) ? part.split(/[:,]/) : [])),
  ];
}
