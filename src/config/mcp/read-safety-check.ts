import { isObject, type JsonValue } from '../../base/json-value.ts';
import type { Config } from '../config.ts';
import { name, nullable, type Setting } from '../settings.ts';

/** The check that a call of an MCP tool passes before it runs: a command that reads the call, or a URL that it is posted to. */
export type SafetyCheck = { timeoutMs: number } & (
  | { type: 'command'; command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { type: 'http'; url: string; headers: Readonly<Record<string, string>> }
);

const TABLE = 'mcp_safety_check';
const KEYS = ['command', 'args', 'env', 'url', 'http_headers', 'timeout_sec'];
const TIMEOUT_MS_DEFAULT = 10_000;
const TIMEOUT_SECONDS_MAX = 300;

/** Returns the configured check; null: there is none. Throws a ConfigError. */
export function readSafetyCheck(config: Config): SafetyCheck | null {
  const keys = config.keys([TABLE]);
  if (keys.length === 0) return null;
  for (const key of keys)
    if (!KEYS.includes(key)) throw config.error([TABLE, key], `not a key of ${TABLE}. Its keys are ${KEYS.join(', ')}.`);
  const read = <T>(key: string, setting: Setting<T>) => config.read([TABLE, key], setting);
  const timeoutMs = read('timeout_sec', TIMEOUT);
  const command = read('command', nullable(name()));
  const url = read('url', nullable(HTTP_URL));
  if ((command === null) === (url === null)) throw config.error([TABLE], 'expected either command or url');
  if (command !== null) return { type: 'command', timeoutMs, command, args: read('args', TEXTS), env: read('env', TEXT_TABLE) };
  return { type: 'http', timeoutMs, url: url ?? '', headers: read('http_headers', TEXT_TABLE) };
}

const TIMEOUT: Setting<number> = {
  expected: `a number of seconds, more than 0 and at most ${TIMEOUT_SECONDS_MAX}`,
  absent: TIMEOUT_MS_DEFAULT,
  read: (value) => (typeof value === 'number' && value > 0 && value <= TIMEOUT_SECONDS_MAX ? Math.ceil(value * 1000) : undefined),
};

const HTTP_URL: Setting<string> = {
  expected: 'an http or https URL',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined),
};

const TEXTS: Setting<string[]> = {
  expected: 'a list of strings',
  absent: [],
  secret: true,
  read: (value) => (Array.isArray(value) && value.every((each): each is string => typeof each === 'string') ? value : undefined),
};

const TEXT_TABLE: Setting<Record<string, string>> = {
  expected: 'a table of names and single-line string values',
  absent: {},
  secret: true,
  read: readTable,
};

function readTable(value: JsonValue): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return entries.length === Object.keys(value).length && entries.every(([, text]) => !/[\r\n\0]/.test(text))
    ? Object.fromEntries(entries)
    : undefined;
}
