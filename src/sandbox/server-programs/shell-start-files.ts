import { constants } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../../base/env.ts';
import { textOf } from '../../base/files/text-of.ts';
import { isFile } from '../../base/paths/is-file.ts';
import { programName } from '../../policy/parse/program-name.ts';
import { expandVariables } from './expand-variables.ts';
import type { ProgramFile } from './server-program.ts';

/** A larger start file is protected, but not searched. */
const TEXT_BYTES_MAX = 512 * 1024;
/** The most start files, with those that they read. */
const FILES_MAX = 100;

/** The command that reads another file. The file is a word, also in quotes. */
const SOURCED = /(?:^|[\s;&|({])(?:\.|source)[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s;&|)}]+)/gm;
/** A loop over the files of a folder, such as `for file in ~/.bashrc.d/*.sh`. */
const LOOPED = /(?:^|[\s;&|({])for[ \t]+\w+[ \t]+in[ \t]+([^;\n]+)/gm;
const ASSIGNED =
  /(?:^|[\s;&|({])(?:export[ \t]+|readonly[ \t]+|typeset[ \t]+)?([A-Za-z_]\w*)=("[^"\n]*"|'[^'\n]*'|[^\s;&|)}]*)/gm;
/** The characters between the words of a line. */
const BETWEEN = /[\s;&|()<>`"'=]+/;
/** Other text, so that lines of comments do not count. */
const COMMENT = /^[ \t]*#.*$/gm;

interface ShellStart {
  shell: string;
  env: Env;
  /** Whether the shell reads the profile of the user. */
  login: boolean;
  /**
   * Whether it reads the files of terminals. A login shell of bash does not: then it is started
   * once more without being one.
   */
  interactive: boolean;
}

/**
 * The places that a start file leads to: files that it reads, programs that it names by path, and
 * folders of which it reads all files.
 */
interface Found {
  sourced: string[];
  programs: string[];
}

/**
 * Returns the files that a shell reads before its script, and those that they read in turn as far
 * as their text names them. They need not exist.
 */
export function shellStartFiles({ shell, ...start }: ShellStart): ProgramFile[] {
  const { env } = start;
  const own = ownFiles(programName(shell), start);
  const found = new Set(own);
  const others = new Set<string>();
  // The loop also reads the files that it adds.
  for (const path of found) {
    if (found.size > FILES_MAX) break;
    const { sourced, programs } = namedIn(path, env);
    for (const one of sourced) found.add(one);
    for (const one of programs) others.add(one);
  }
  return [...found, ...others].map((path) => ({ path, ifAbsent: 'watch' }));
}

/** The start files of all shells that commands can have. */
export function allStartFiles(env: Env): ProgramFile[] {
  const all = ['bash', 'zsh', 'ksh', 'sh'].flatMap((shell) =>
    shellStartFiles({ shell, env, login: true, interactive: true }),
  );
  return [...new Map(all.map((file) => [file.path, file])).values()];
}

/** The files that a shell of this name reads by itself. They need not exist. */
export function ownFiles(
  shell: string,
  { env, login, interactive }: Omit<ShellStart, 'shell'>,
): string[] {
  const {
    HOME: home = '',
    BASH_ENV: bashEnv = '',
    ENV: ownEnv = '',
    ZDOTDIR: zdotdir = home,
  } = env;
  const at = (folder: string, names: string) =>
    isAbsolute(folder) ? names.split(' ').map((name) => join(folder, name)) : [];
  const named = (path: string) => [expandVariables(path, env)].filter((one) => isAbsolute(one));
  switch (shell) {
    case 'bash':
      return [
        ...named(bashEnv),
        ...(login
          ? [
              ...at('/etc', 'profile bash.bash_logout'),
              ...at(home, '.bash_profile .bash_login .profile .bash_logout'),
            ]
          : []),
        ...(interactive ? [...at('/etc', 'bash.bashrc bashrc'), ...at(home, '.bashrc')] : []),
      ];
    case 'zsh': {
      const of = (names: string) => [
        ...at(zdotdir, names),
        ...at('/etc/zsh', undotted(names)),
        ...at('/etc', undotted(names)),
      ];
      const files = [
        ...of('.zshenv'),
        ...(login ? of('.zprofile .zlogin .zlogout') : []),
        ...(interactive ? of('.zshrc') : []),
      ];
      // zsh reads a compiled file in place of an older one of the same name.
      return files.flatMap((file) => [file, `${file}.zwc`]);
    }
    default:
      return [
        ...named(ownEnv),
        ...(login ? [...at('/etc', 'profile'), ...at(home, '.profile .mkshrc')] : []),
      ];
  }
}

function undotted(names: string): string {
  return names.replace(/\./g, '');
}

function namedIn(path: string, env: Env): Found {
  const text = (textOf(path, TEXT_BYTES_MAX) ?? '').replace(COMMENT, '');
  const known: Record<string, string | undefined> = { ...env };
  const expanded = (word: string) => expandVariables(word.replace(/^(["'])(.*)\1$/, '$2'), known);
  for (const [, name = '', value = ''] of text.matchAll(ASSIGNED)) {
    const word = expanded(value);
    if (name !== 'HOME' && !/[$`]/.test(word)) known[name] ??= word;
  }
  const here = dirname(path);
  const absolute = (word: string) =>
    isAbsolute(word) ? word : word.startsWith('./') ? join(here, word) : null;
  const sourced = [...text.matchAll(SOURCED)].flatMap(
    ([, word = '']) => absolute(expanded(word)) ?? [],
  );
  const looped = [...text.matchAll(LOOPED)].flatMap(([, words = '']) =>
    words.split(/[ \t]+/).flatMap((word) => absolute(expanded(word)) ?? []),
  );
  const programs = text
    .split(BETWEEN)
    .flatMap((word) => (/^[/~$]/.test(word) ? (absolute(expanded(word)) ?? []) : []));
  return {
    sourced: [...sourced, ...looped]
      .filter((one) => !one.includes('$'))
      .map((one) => (/[*?[]/.test(one) ? fixedPart(one) : one)),
    programs: programs.filter((one) => isFile(one, constants.X_OK)),
  };
}

/** The folder above the first part of a path that is a pattern. */
function fixedPart(path: string): string {
  const parts = path.split('/');
  return (
    parts
      .slice(
        0,
        parts.findIndex((part) => /[*?[]/.test(part)),
      )
      .join('/') || '/'
  );
}
