import { basename } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { namedPaths, PATHS_MAX, type PinnedCommand, possiblePaths } from '../../policy/outside/named-paths.ts';

/** The instructions of a skill. They are read, and do not run. */
const INSTRUCTIONS = 'SKILL.md';

/**
 * Returns a file or folder of a skill that a command may run: one that it names, also through links, unless its program is known only to
 * read or write the files that it names. Returns null if there is none. `folders` are the absolute paths of the skills' folders.
 */
export async function skillFile(named: Omit<PinnedCommand, 'realCwd'>, folders: readonly string[]): Promise<string | null> {
  if (folders.length === 0) return null;
  const skills = folders.map(resolveLinks);
  const working = new EventLoopYield();
  for (const path of codePaths({ ...named, realCwd: resolveLinks(named.cwd) })) {
    await working.worked(1);
    if (basename(path) === INSTRUCTIONS || statOf(path) === null) continue;
    const real = resolveLinks(path);
    if (skills.some((skill) => isWithin(real, skill))) return real;
  }
  return null;
}

function codePaths(command: PinnedCommand): readonly string[] {
  const places = namedPaths(command);
  if (places === null) return possiblePaths([command.command.text], [command.cwd]).slice(0, PATHS_MAX);
  // The folders that a command works in are no files that it runs.
  return [...places.code].filter((path) => !places.folders.includes(path));
}
