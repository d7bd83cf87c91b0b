import type { Env } from '../base/env.ts';
import { isFolder } from '../base/paths/is-folder.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { suggestKey } from '../base/text/suggest-key.ts';
import { choiceProblem } from './command-line/choice-problem.ts';
import { listed } from './command-line/listed.ts';
import { LOG_LEVELS } from './log/lazy-log.ts';

/** The variables that a user sets for heddle alone. */
const OWN: readonly string[] = ['HEDDLE_HOME', 'HEDDLE_LOG'];
/** heddle sets this one for commands, which may start heddle. */
const OF_COMMANDS = 'HEDDLE_COMMAND';
/** The first one that is set names the home. */
const HOMES = ['HEDDLE_HOME', 'CODEX_HOME'];

/**
 * Returns a sentence for each wrong value of the variables that heddle reads, and for each variable
 * that looks like heddle's and that it does not read. Those that config.toml or the command line
 * names are the user's own, such as the `env_key` of a provider. `given`: reads the text of both; a
 * start without such a variable does not need it.
 */
export async function variableProblems(env: Env, given: () => Promise<string>): Promise<string[]> {
  const { HEDDLE_LOG: level = '' } = env;
  const ofLog = level === '' ? null : choiceProblem('HEDDLE_LOG', level, LOG_LEVELS);
  const name = HOMES.find((each) => env[each]);
  const ofHome = name === undefined ? null : homeProblem(name, env[name] ?? '');
  const unknown = Object.keys(env).filter(
    (each) => /^HEDDLE_/i.test(each) && each !== OF_COMMANDS && !OWN.includes(each),
  );
  const settings = unknown.length === 0 ? '' : await given();
  const ofUnknown = unknown.filter((each) => !settings.includes(each)).map(unknownProblem);
  return [ofHome, ofLog, ...ofUnknown].filter((problem) => problem !== null);
}

function homeProblem(name: string, value: string): string | null {
  if (/^~(?:\/|$)/.test(value))
    return `${name} ${value}: the shell has not replaced ~, so the home is a folder of this name`;
  return statOf(value) !== null && !isFolder(value) ? `${name} ${value}: it is not a folder` : null;
}

function unknownProblem(name: string): string {
  const nearest = suggestKey(name, OWN);
  return `${name}: heddle does not read this variable, but ${listed(OWN, 'and')}${nearest === null ? '' : `: did you mean ${nearest}?`}`;
}
