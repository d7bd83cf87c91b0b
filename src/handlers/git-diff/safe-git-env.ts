import { isAbsolute } from 'node:path';
import type { Env } from '../../base/env.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';

/** Settings that start no program and change nothing, whatever the repository's own configuration says. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['credential.helper', ''],
];

/** Git fetches no object that is missing, asks nothing, and leaves the index as it is. */
const ENV: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

const FILTER = /^filter\.(.+)\.(?:clean|smudge|process|required)$/s;

/** The names of the filters in a list of configuration keys. Such a filter is a program that git runs for the files that name it. */
export function filterNames(keys: readonly string[]): string[] {
  return [...new Set(keys.flatMap((key) => FILTER.exec(key)?.[1] ?? []))];
}

/**
 * The environment in which git runs no program for a repository that anyone may have made. `filters`: the names of the filters in its
 * configuration. `root`: its working tree, whatever its configuration names, and no place for git itself.
 */
export function safeGitEnv(env: Env, root: string, filters: readonly string[]): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(GIT_.*|BASH_ENV|ENV|PATH|PAGER)$/.test(entry[0]),
  );
  const path = (env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder) && !isWithin(realPathOrSame(folder), root));
  const unset = ['clean', 'smudge', 'process'];
  const settings = [
    ...SETTINGS,
    ...filters.flatMap((name) => [
      ...unset.map((key) => [`filter.${name}.${key}`, ''] as const),
      [`filter.${name}.required`, 'false'] as const,
    ]),
  ];
  return {
    ...Object.fromEntries(kept),
    ...ENV,
    PATH: path.join(':'),
    GIT_WORK_TREE: root,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
