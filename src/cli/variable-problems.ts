import type { Env } from '../base/env.ts';
import { isFolder } from '../base/paths/is-folder.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { choiceProblem } from './command-line/choice-problem.ts';
import { LOG_LEVELS } from './lazy-log.ts';

/** The variables that a user sets for heddle alone. */
export const OWN_VARIABLES: readonly string[] = ['HEDDLE_HOME', 'HEDDLE_LOG'];
/** heddle sets this one for commands, which may start heddle. */
const OF_COMMANDS = 'HEDDLE_COMMAND';
/** The first one that is set names the home. */
const HOMES = ['HEDDLE_HOME', 'CODEX_HOME'];

/** Returns a sentence for each wrong value of the variables that heddle reads. */
export function variableProblems(env: Env): string[] {
  const { HEDDLE_LOG: level = '' } = env;
  const ofLog = level === '' ? null : choiceProblem('HEDDLE_LOG', level, LOG_LEVELS);
  const name = HOMES.find((each) => env[each]);
  const ofHome = name === undefined ? null : homeProblem(name, env[name] ?? '');
  return [ofHome, ofLog].filter((problem) => problem !== null);
}

/** The names of variables that look like heddle's, and that it does not read. */
export function unknownVariables(env: Env): string[] {
  return Object.keys(env).filter(
    (name) => /^HEDDLE_/i.test(name) && name !== OF_COMMANDS && !OWN_VARIABLES.includes(name),
  );
}

function homeProblem(name: string, value: string): string | null {
  if (/^~(?:\/|$)/.test(value))
    return `${name} ${value}: the shell has not replaced ~, so the home is a folder of this name`;
  return statOf(value) !== null && !isFolder(value) ? `${name} ${value}: it is not a folder` : null;
}
