import { basename, join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { BETWEEN } from '../../policy/outside/line-words.ts';
import {
  namedPaths,
  PATHS_MAX,
  type PinnedCommand,
  possiblePaths,
} from '../../policy/outside/named-paths.ts';
import { type ParsedCommand, parseCommand } from '../../policy/parse/parse-command.ts';

type Named = Omit<PinnedCommand, 'realCwd'>;

/** The instructions of a skill. They are read, and do not run. */
const INSTRUCTIONS = 'SKILL.md';
/** Longer commands are not examined. */
const CHARS_MAX = 64 * 1024;
/** The system opens no longer path. */
const PATH_CHARS_MAX = 4096;
const NOT_EXAMINED = 'a file of a skill: it names more files than heddle can examine';
/** The names of the folders that have skills, as shells replace them: `~`, and these variables. */
const REPLACED =
  /(?<![^\s;|&(<>{,=:`])~(?![^\s;|&)/:])|\$(HOME|HEDDLE_HOME|CODEX_HOME)\b|\$\{(HOME|HEDDLE_HOME|CODEX_HOME)\}/g;
/** A value that is a part of one word for every shell. */
const PLAIN = /^[\w@%+:,./-]+$/;

/**
 * Returns what a command may run of a skill, in words that follow "The command may run": a file or
 * a folder that it names, also through links, unless its program is known only to read or write the
 * files that it names. Returns null if there is none. `folders` are the absolute paths of the
 * skills' folders.
 */
export async function skillFile(named: Named, folders: readonly string[]): Promise<string | null> {
  if (folders.length === 0) return null;
  const paths = await codePaths(named, folders);
  if (paths === null) return NOT_EXAMINED;
  const working = new EventLoopYield();
  const skills: string[] = [];
  for await (const folder of inSlices(folders, 1, working)) skills.push(resolveLinks(folder));
  for await (const path of inSlices(paths, 1, working)) {
    if (basename(path) === INSTRUCTIONS || statOf(path) === null) continue;
    const real = resolveLinks(path);
    if (skills.some((skill) => isWithin(real, skill))) return `${real}, which belongs to a skill`;
  }
  return null;
}

/**
 * The paths that a command may run, and in a script that is not understood, all that it may name.
 * Null: there are too many.
 */
async function codePaths(
  { command, cwd, env }: Named,
  folders: readonly string[],
): Promise<readonly string[] | null> {
  if (command.text.length > CHARS_MAX) return null;
  const known = await withHome(command, env);
  const places = namedPaths({ command: known, cwd, realCwd: resolveLinks(cwd), env });
  // The folders that a command works in are no files that it runs.
  const code = places && [...places.code].filter((path) => !places.folders.includes(path));
  if (code !== null && known.commands !== null) return code;
  const words = known.text.split(BETWEEN);
  const folderOfPatterns = words
    .filter((word) => /[*?]/.test(word))
    .map((word) => word.replace(/[^/]*[*?].*$/, '.'));
  const all = new Set([
    ...(code ?? possiblePaths([known.text], [cwd])),
    ...possiblePaths(folderOfPatterns, [cwd]),
  ]);
  const moves = code === null || /\b(?:cd|pushd)\b/.test(known.text);
  addPathsInSkills(all, moves ? words : words.filter((word) => word.includes('/')), folders);
  return all.size > PATHS_MAX ? null : [...all];
}

/**
 * A script with the folders that `~` and variables stand for, also in quotes: they may have another
 * script.
 */
async function withHome(command: ParsedCommand, env: PinnedCommand['env']): Promise<ParsedCommand> {
  const { text, argv } = command;
  if (argv.at(-1) !== text) return command;
  const script = text.replace(REPLACED, (name: string, bare?: string, braced?: string) => {
    const value = env[bare ?? braced ?? 'HOME'] ?? '';
    return PLAIN.test(value) ? value : name;
  });
  return script === text ? command : parseCommand([...argv.slice(0, -1), script]);
}

/**
 * Adds the paths in skills that words name by the name of a skill's folder, whatever stands before
 * it.
 */
function addPathsInSkills(
  paths: Set<string>,
  words: readonly string[],
  folders: readonly string[],
): void {
  const byName = new Map<string, string[]>();
  for (const folder of folders)
    byName.set(basename(folder), [...(byName.get(basename(folder)) ?? []), folder]);
  for (const word of words) {
    if (word.length > PATH_CHARS_MAX) continue;
    const parts = word.replace(/[^/]*[*?].*$/, '').split('/');
    for (const [index, part] of parts.entries())
      for (const folder of byName.get(part) ?? []) {
        if (paths.size > PATHS_MAX) return;
        paths.add(join(folder, ...parts.slice(index + 1)));
      }
  }
}
