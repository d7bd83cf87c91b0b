import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { FileRefusedError } from '../base/files/file-refused-error.ts';
import { readRegularFile } from '../base/files/read-regular-file.ts';
import { isFolder } from '../base/paths/is-folder.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import { suggestKey } from '../base/text/suggest-key.ts';
import { choiceProblem } from './command-line/choice-problem.ts';
import { listed } from './command-line/listed.ts';
import { LOG_LEVELS } from './lazy-log.ts';

/** The variables that a user sets for heddle alone. */
const OWN: readonly string[] = ['HEDDLE_HOME', 'HEDDLE_LOG'];
/** heddle sets this one for commands, which may start heddle. */
const OF_COMMANDS = 'HEDDLE_COMMAND';
/** The first one that is set names the home. */
const HOMES = ['HEDDLE_HOME', 'CODEX_HOME'];
const CONFIG_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns a sentence for each wrong value of the variables that heddle reads, and for each variable
 * that looks like heddle's and that it does not read. Those that config.toml or the command line
 * names are the user's own, such as the `env_key` of a provider. `overrides`: settings of the
 * command line, as `key=value` strings.
 */
export async function variableProblems(
  env: Env,
  home: string,
  overrides: readonly string[],
): Promise<string[]> {
  const { HEDDLE_LOG: level = '' } = env;
  const ofLog = level === '' ? null : choiceProblem('HEDDLE_LOG', level, LOG_LEVELS);
  const name = HOMES.find((each) => env[each]);
  const ofHome = name === undefined ? null : homeProblem(name, env[name] ?? '');
  const unknown = Object.keys(env).filter(
    (each) => /^HEDDLE_/i.test(each) && each !== OF_COMMANDS && !OWN.includes(each),
  );
  const settings = unknown.length === 0 ? '' : [await configText(home), ...overrides].join('\n');
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

/** Empty if the file cannot be read, which the server reports. */
async function configText(home: string): Promise<string> {
  try {
    const content = await readRegularFile(join(home, 'config.toml'), {
      bytesMax: CONFIG_BYTES_MAX,
    });
    return content?.bytes.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof FileRefusedError || systemErrorCode(error) !== null) return '';
    throw error;
  }
}
