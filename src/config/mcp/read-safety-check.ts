import { secretsOf } from '../../secrets/redact.ts';
import type { Config } from '../config.ts';
import { HTTP_URL, name, nullable, type Setting } from '../settings/setting.ts';
import { HEADERS } from '../values/headers.ts';
import { TEXT_LIST, VARIABLES } from '../values/variables.ts';
import { commandProblem } from './command-problem.ts';
import { secretsOfProgram } from './secrets-of-program.ts';

/**
 * The check that a call of an MCP tool passes before it runs: a command that reads the call, or a
 * URL that it is posted to.
 */
export type SafetyCheck = {
  timeoutMs: number;
  /** Values of its configuration that no error and no log may show. */
  secrets: readonly string[];
} & (
  | {
      type: 'command';
      command: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      cwd: string;
    }
  | { type: 'http'; url: string; headers: Readonly<Record<string, string>> }
);

const TABLE = 'mcp_safety_check';
const OF_COMMAND = ['command', 'args', 'env'];
const OF_URL = ['url', 'http_headers'];
const KEYS = [...OF_COMMAND, ...OF_URL, 'timeout_sec'];
const TIMEOUT_MS_DEFAULT = 10_000;
const TIMEOUT_SECONDS_MAX = 300;

/** Returns the configured check; null: there is none. Throws a ConfigError. */
export function readSafetyCheck(config: Config): SafetyCheck | null {
  const keys = config.keys([TABLE]);
  if (keys.length === 0) return null;
  for (const key of keys)
    if (!KEYS.includes(key))
      throw config.error([TABLE, key], `not a key of ${TABLE}. Its keys are ${KEYS.join(', ')}.`);
  const read = <T>(key: string, setting: Setting<T>) => config.read([TABLE, key], setting);
  const timeoutMs = read('timeout_sec', TIMEOUT);
  const command = read('command', nullable(name()));
  const url = read('url', nullable(HTTP_URL));
  if ((command === null) === (url === null))
    throw config.error([TABLE], 'expected either command or url');
  const other = keys.find((key) => (command === null ? OF_COMMAND : OF_URL).includes(key));
  if (other !== undefined)
    throw config.error(
      [TABLE, other],
      `only a check with a ${command === null ? 'command' : 'url'} can have it`,
    );
  if (url !== null) {
    const headers = read('http_headers', HEADERS);
    return { type: 'http', timeoutMs, url, headers, secrets: secretsOf(new URL(url), headers) };
  }
  const program = { args: read('args', TEXT_LIST), env: read('env', VARIABLES) };
  const problem = commandProblem(command ?? '', {
    cwd: config.home,
    searchPath: program.env.PATH ?? config.env.PATH ?? '',
  });
  if (problem !== null) throw config.error([TABLE, 'command'], problem);
  return {
    type: 'command',
    timeoutMs,
    command: command ?? '',
    ...program,
    cwd: config.home,
    secrets: secretsOfProgram(program),
  };
}

const TIMEOUT: Setting<number> = {
  expected: `a number of seconds, more than 0 and at most ${TIMEOUT_SECONDS_MAX}`,
  absent: TIMEOUT_MS_DEFAULT,
  read: (value) =>
    typeof value === 'number' && value > 0 && value <= TIMEOUT_SECONDS_MAX
      ? Math.ceil(value * 1000)
      : undefined,
};
