import { join, resolve } from 'node:path';
import type { Env } from '../../base/env.ts';
import type { ParsedCommand, SimpleCommand } from '../command/parse-command.ts';
import { programName } from '../command/program-name.ts';
import { CODE_FILES } from './code-files.ts';
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
  /** Files that the command reads or changes as data. */
  data: ReadonlySet<string>;
  /** Names of files that its programs read as code without being told, from a folder that they work in or the nearest above it. */
  sought: ReadonlySet<string>;
  /** The folders that its programs may work in. */
  folders: readonly string[];
  /** Whether one of its programs uses the repository of its working directory. */
  usesGit: boolean;
}

/** A command that names more paths is not examined, and no rule lets it leave the sandbox. */
export const PATHS_MAX = 2048;
const FOLDERS_MAX = 8;
/** The characters that separate words in an unparsed script. */
export const BETWEEN = /[\s;|&<>(){}[\]'"`$\\=,:]+/;
const WRITTEN = />[>|&]?\s*([^\s;|&<>(){}'"`$\\]+)/g;

/** Returns the places that a command names or is known to read. Returns null if it names too many, or in unknown folders. */
export function namedPaths({ command, cwd, realCwd, env }: PinnedCommand): NamedPaths | null {
  const found = new Collector();
  found.enter([...new Set([cwd, realCwd])]);
  found.takePrograms(command, (env.PATH ?? '').split(':'));
  const { commands, text } = command;
  if (commands === null) found.takeText(text);
  const folders = possibleFolders(commands ?? [], [cwd, realCwd], env.HOME);
  for (const [index, simple] of (commands ?? []).entries()) {
    const here = folders[index] ?? null;
    if (here === null) return null;
    found.enter(here);
    found.take(simple);
  }
  return found.result();
}

/** Returns the paths that the words of a simple command may stand for in these folders. */
export function possiblePaths(words: readonly string[], folders: readonly string[]): string[] {
  const parts = new Set(words.flatMap((word) => [word, ...partsOf(word), ...word.split(BETWEEN)]));
  return [...parts].filter((part) => part !== '' && !part.includes('\0')).flatMap((part) => folders.map((folder) => resolve(folder, part)));
}

/**
 * Returns the folders that a script may be in before each of its commands. It begins in one of `starts`. A `cd` adds folders. Null:
 * the folder is not known. `home` is the folder of a `cd` without words.
 */
export function possibleFolders(commands: readonly SimpleCommand[], starts: readonly string[], home = ''): (readonly string[] | null)[] {
  let folders: readonly string[] | null = [...new Set(starts)];
  return commands.map(({ words: [program, ...args] }) => {
    const before = folders;
    if (program === 'cd' && folders !== null) {
      const [target = home, ...others] = args;
      const isCertain = target !== '' && others.length === 0 && !target.startsWith('-');
      const all = isCertain ? [...new Set([...folders, ...folders.map((folder) => resolve(folder, target))])] : [];
      folders = isCertain && all.length <= FOLDERS_MAX ? all : null;
    }
    return before;
  });
}

class Collector {
  readonly #code = new Set<string>();
  readonly #data = new Set<string>();
  readonly #sought = new Set<string>();
  #folders: readonly string[] = [];
  #usesGit = false;

  /** Resolves the next words in each of these folders. */
  enter(folders: readonly string[]): void {
    this.#folders = folders;
    for (const folder of folders) this.#code.add(folder);
  }

  /** The files that its programs may be. */
  takePrograms({ commands, possibleCommands }: ParsedCommand, searched: readonly string[]): void {
    const names = new Set([...(commands ?? []), ...possibleCommands].map(({ words: [program = ''] }) => program));
    for (const name of names)
      if (!name.includes('/'))
        this.#add(
          this.#code,
          searched.map((folder) => join(folder, name)),
        );
  }

  take({ words }: SimpleCommand): void {
    const [, ...args] = words;
    const kind = programKind(words);
    if (kind !== 'unknown') {
      this.#usesGit ||= kind === 'git';
      for (const word of args) this.#add(this.#data, [word, ...partsOf(word)]);
      return;
    }
    for (const word of words) this.#takeCode(word);
  }

  /** For scripts that are not understood. */
  takeText(text: string): void {
    const written = new Set([...text.matchAll(WRITTEN)].map(([, word = '']) => word));
    this.#add(this.#data, [...written]);
    for (const word of text.split(BETWEEN)) if (!written.has(word)) this.#takeCode(word);
  }

  result(): NamedPaths | null {
    if (this.#code.size + this.#data.size > PATHS_MAX) return null;
    return { code: this.#code, data: this.#data, sought: this.#sought, folders: this.#folders, usesGit: this.#usesGit };
  }

  #takeCode(word: string): void {
    for (const name of CODE_FILES.get(programName(word)) ?? []) this.#sought.add(name);
    this.#usesGit ||= programName(word) === 'git';
    // A word may be a script for another shell.
    this.#add(this.#code, [word, ...partsOf(word), ...word.split(BETWEEN)]);
  }

  #add(to: Set<string>, words: readonly string[]): void {
    for (const word of words) {
      if (word === '' || word.includes('\0') || to.size > PATHS_MAX) continue;
      for (const folder of this.#folders) to.add(resolve(folder, word));
    }
  }
}

/** The parts of a word that may be paths: the value of an option, of an assignment, of `@file`, and the parts of a list. */
function partsOf(word: string): string[] {
  const value = /^(?:-{1,2}[^=]*|[^=/]+)=(.+)$/s.exec(word)?.[1];
  const short = /^-[A-Za-z](.+)$/s.exec(word)?.[1];
  const parts = [value, short, /^@(.+)$/s.exec(word)?.[1]].filter((part) => part !== undefined);
  return [...parts, ...[word, ...parts].flatMap((part) => (/[:,]/.test(part) ? part.split(/[:,]/) : []))];
}
