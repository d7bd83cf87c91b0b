import { delimiter, isAbsolute } from 'node:path';
import type { Env } from '../base/env.ts';
import { isWithin } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';

type Setting = readonly [key: string, value: string];

/**
 * Settings with which git starts no program and writes nothing of its own accord, whatever the
 * repository's configuration says. No setting switches off external diffs and textconv: that takes
 * `--no-ext-diff --no-textconv`.
 */
const SETTINGS: readonly Setting[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.splitIndex', 'false'],
  ['credential.helper', ''],
  ['diff.relative', 'false'],
  ['gc.auto', '0'],
  ['log.showSignature', 'false'],
  ['maintenance.auto', 'false'],
];

/** Git fetches no object that is missing, asks nothing, and leaves the index as it is. */
const ENV: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

/** The test of a shell whether the git that it starts obeys the settings of `safeGitEnv`. */
export const OBEYS_SETTINGS = '[ "$(git config core.hooksPath)" = /dev/null ]';

const FILTER = /^filter\.(.+)\.(?:clean|smudge|process|required)$/s;

/**
 * The names of the filters in a list of configuration keys. Such a filter is a program that git
 * runs for the files that name it.
 */
export function filterNames(keys: readonly string[]): string[] {
  return [...new Set(keys.flatMap((key) => FILTER.exec(key)?.[1] ?? []))];
}

/**
 * Whether `safeGitEnv` can switch off the filter of this name: in a setting that git is given, the
 * first `=` ends the key.
 */
export function canSwitchOff(filter: string): boolean {
  return !filter.includes('=');
}

/**
 * The variables with which git runs no program for a repository that anyone may have made, except
 * as `SETTINGS` says. Every start of git has them, and no other variable that begins with
 * GIT_CONFIG. `filters`: the names of the filters in its configuration, as far as they are known.
 */
export function safeGitEnv(filters: readonly string[] = []): Record<string, string> {
  const settings = [...SETTINGS, ...filters.flatMap(withoutFilter)];
  // `git -c` passes settings to its own programs in this variable. Unlike GIT_CONFIG_COUNT, git
  // before 2.31 reads it too.
  return {
    ...ENV,
    GIT_CONFIG_PARAMETERS: settings.map(([key, value]) => quoted(`${key}=${value}`)).join(' '),
  };
}

/**
 * The folders of a PATH outside these roots. Whoever wrote the files of a workspace chooses none of
 * the programs in the others.
 */
export function pathOutside(path: string, roots: readonly string[]): string {
  const real = roots.map(realPathOrSame);
  const isOutside = (folder: string) =>
    isAbsolute(folder) && !real.some((root) => isWithin(realPathOrSame(folder), root));
  return path.split(delimiter).filter(isOutside).join(delimiter);
}

/**
 * The variables of an environment that change nothing about where git looks, what it starts, and
 * how a shell begins.
 */
export function withoutGitVariables(env: Env): Record<string, string> {
  const isKept = ([name, value]: [string, string | undefined]) =>
    value !== undefined && !/^(?:GIT_.*|BASH_ENV|ENV|PATH|PAGER)$/.test(name);
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => isKept(entry)),
  );
}

function withoutFilter(name: string): Setting[] {
  return [
    ...['clean', 'smudge', 'process'].map((key): Setting => [`filter.${name}.${key}`, '']),
    [`filter.${name}.required`, 'false'],
  ];
}

/** In the quotes of a shell, of which git reads no other form. */
function quoted(text: string): string {
  return `'${text.replace(/['!]/g, "'\\$&'")}'`;
}
