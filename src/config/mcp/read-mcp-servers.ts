import { isAbsolute } from 'node:path';
import type { Env } from '../../base/env.ts';
import type { JsonValue } from '../../base/json-value.ts';
import { longestFirst, secretsOf } from '../../secrets/redact.ts';
import type { Config } from '../config.ts';
import { choice, flag, HTTP_URL, name, nullable, type Setting } from '../settings/setting.ts';
import { ConfigError } from '../toml/config-error.ts';
import { HEADERS, headersFromEnv } from '../values/headers.ts';
import { TEXT_LIST, VARIABLE_NAME, VARIABLE_NAMES, VARIABLES } from '../values/variables.ts';
import { commandProblem } from './command-problem.ts';
import type { McpHttp, McpServerConfig, McpStdio } from './mcp-server-config.ts';
import { secretsOfProgram } from './secrets-of-program.ts';
import {
  OF_HTTP,
  OF_STDIO,
  rawValue,
  type UnknownKey,
  unknownServerKeys,
} from './unknown-server-keys.ts';

/**
 * The servers of a configuration. One that cannot be read is a problem, and no thread is refused
 * for it unless it is required.
 */
export interface ConfiguredMcpServers {
  servers: McpServerConfig[];
  problems: McpServerProblem[];
  /** The error of the whole table. */
  further: ConfigError[];
  /**
   * Keys that have no effect, and what there is to say about each. The servers run without them.
   */
  unknown: UnknownKey[];
}

export interface McpServerProblem {
  name: string;
  required: boolean;
  error: ConfigError;
}

const TABLE = 'mcp_servers';
/** Each that is enabled is a process or a connection. */
const SERVERS_MAX = 256;
const STARTUP_MS_DEFAULT = 10_000;
const TOOL_MS_DEFAULT = 60_000;
const SECONDS_MAX = 24 * 60 * 60;
const MODES = ['auto', 'prompt', 'writes', 'approve'] as const;

/**
 * The server's variables that a stdio server gets: what programs commonly need, and nothing that is
 * meant to be a secret.
 */
const INHERITED = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'USER',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
  '__CF_USER_TEXT_ENCODING',
  'SYSTEMROOT',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
];

/** Reads `[mcp_servers]`. Never throws a ConfigError: each is a problem. */
export function readMcpServers(config: Config): ConfiguredMcpServers {
  const read: ConfiguredMcpServers = { servers: [], problems: [], further: [], unknown: [] };
  const { servers, problems } = read;
  for (const server of serverNames(config, read)) {
    try {
      servers.push(readMcpServer(config, server));
      read.unknown.push(...unknownServerKeys(config, [TABLE, server]));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (!isOff(config, server))
        problems.push({ name: server, required: isRequired(config, server), error });
    }
  }
  return read;
}

function serverNames(config: Config, { further }: ConfiguredMcpServers): string[] {
  try {
    const names = config.keys([TABLE]).sort();
    if (names.length > SERVERS_MAX) {
      const problem = `there are ${names.length} MCP servers, more than ${SERVERS_MAX}: only the first ones by name are used`;
      further.push(config.error([TABLE], problem));
    }
    return names.slice(0, SERVERS_MAX);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    further.push(error);
    return [];
  }
}

function isOff(config: Config, server: string): boolean {
  return rawValue(config, [TABLE, server, 'enabled']) === false;
}

function isRequired(config: Config, server: string): boolean {
  return rawValue(config, [TABLE, server, 'required']) === true;
}

/** Reads one server. Throws a ConfigError if it is not valid, or not there. */
export function readMcpServer(config: Config, server: string): McpServerConfig {
  const path = [TABLE, server];
  if (!/^[\w.-]{1,64}$/.test(server))
    throw config.error(path, 'expected a name of at most 64 letters, digits, ".", "-" and "_"');
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const transport = readTransport(config, path);
  for (const key of config.keys(path)) requireOwnKey(config, [...path, key], transport.type);
  const startupMs = read('startup_timeout_ms', nullable(milliseconds())) ?? null;
  return {
    name: server,
    transport,
    enabled: read('enabled', { ...flag(), absent: true }),
    required: read('required', flag()),
    startupTimeoutMs: startupMs ?? read('startup_timeout_sec', seconds(STARTUP_MS_DEFAULT)),
    toolTimeoutMs: read('tool_timeout_sec', seconds(TOOL_MS_DEFAULT)),
    enabledTools: read('enabled_tools', nullable(TEXT_LIST)),
    disabledTools: read('disabled_tools', TEXT_LIST),
    callsInParallel: read('supports_parallel_tool_calls', flag()),
    approvalMode: read('default_tools_approval_mode', choice(MODES, 'auto')),
    toolApprovals: toolSettings(config, [...path, 'tools'], 'approval_mode', choice(MODES, 'auto')),
    approvedTools: toolSettings(config, [...path, 'tools'], 'approved_definition', name()),
    secrets: transport.type === 'stdio' ? secretsOfProgram(transport) : secretsIn(transport),
  };
}

function secretsIn({ url, headers, bearerToken, oauth }: McpHttp): string[] {
  return longestFirst([
    ...secretsOf(new URL(url), headers),
    ...(bearerToken === null ? [] : [bearerToken]),
    ...(oauth.clientSecret === null ? [] : [oauth.clientSecret]),
  ]);
}

/** Throws a ConfigError if only servers of the other type can have the key. */
function requireOwnKey(config: Config, path: readonly string[], type: 'stdio' | 'http'): void {
  const key = path.at(-1) ?? '';
  if (type === 'http' && OF_STDIO.includes(key))
    throw config.error(path, 'only a server with a command can have it, and this one has a url');
  if (type === 'stdio' && OF_HTTP.includes(key))
    throw config.error(path, 'only a server with a url can have it, and this one has a command');
}

function readTransport(config: Config, path: readonly string[]): McpStdio | McpHttp {
  const command = config.read([...path, 'command'], nullable(name()));
  const url = config.read([...path, 'url'], nullable(HTTP_URL));
  if (command !== null && url !== null)
    throw config.error([...path, 'url'], 'a server has either a command or a url');
  if (command !== null) return readStdio(config, path, command);
  if (url !== null) return readHttp(config, path, url);
  throw config.error(
    path,
    'command or url is missing: expected the program to start, or the http or https URL of the server',
  );
}

function readStdio(config: Config, path: readonly string[], command: string): McpStdio {
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const names = [...INHERITED, ...read('env_vars', VARIABLE_NAMES)];
  const cwd = read('cwd', FOLDER);
  const env = { ...pickVariables(config.env, names), ...read('env', VARIABLES) };
  const problem = commandProblem(command, { cwd, searchPath: env.PATH ?? '' });
  if (problem !== null) throw config.error([...path, 'command'], problem);
  return {
    type: 'stdio',
    command,
    args: read('args', TEXT_LIST),
    env,
    cwd,
  };
}

function readHttp(config: Config, path: readonly string[], url: string): McpHttp {
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const variable = read('bearer_token_env_var', nullable(VARIABLE_NAME));
  const token = variable === null ? undefined : config.env[variable];
  const oauth = [...path, 'oauth'];
  const secretVariable = config.read([...oauth, 'client_secret_env_var'], nullable(VARIABLE_NAME));
  return {
    type: 'http',
    url,
    headers: {
      ...read('http_headers', HEADERS),
      ...headersFromEnv(config, [...path, 'env_http_headers']),
    },
    bearerToken: token === undefined || token === '' ? null : token,
    bearerTokenVariable: variable,
    oauth: {
      scopes: read('scopes', nullable(TEXT_LIST)),
      resource: read('oauth_resource', nullable(RESOURCE)),
      clientId: config.read([...oauth, 'client_id'], nullable(name())),
      clientSecret: (secretVariable === null ? undefined : config.env[secretVariable]) || null,
      clientMetadataUrl: config.read([...oauth, 'client_metadata_url'], nullable(HTTP_URL)),
      reachesPrivate: config.read([...oauth, 'allow_private_addresses'], flag()),
    },
  };
}

/** The values of a key of the tools that have it. */
function toolSettings<T>(
  config: Config,
  path: readonly string[],
  key: string,
  setting: Setting<T>,
): Record<string, T> {
  const having = config.keys(path).filter((tool) => config.keys([...path, tool]).includes(key));
  return Object.fromEntries(
    having.map((tool) => [tool, config.read([...path, tool, key], setting)]),
  );
}

function pickVariables(env: Env, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const each of names)
    if (Object.hasOwn(env, each) && env[each] !== undefined) picked[each] = env[each];
  return picked;
}

function seconds(absentMs: number): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && value > 0
      ? Math.max(1, Math.round(Math.min(value, SECONDS_MAX) * 1000))
      : undefined;
  return { expected: 'a number of seconds, more than 0', absent: absentMs, read };
}

function milliseconds(): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && value > 0
      ? Math.min(value, SECONDS_MAX * 1000)
      : undefined;
  return {
    expected: 'a whole number of milliseconds, more than 0',
    absent: STARTUP_MS_DEFAULT,
    read,
  };
}

/** Null: the working directory of the thread. */
const FOLDER: Setting<string | null> = {
  expected: 'an absolute path',
  absent: null,
  read: (value) =>
    typeof value === 'string' && isAbsolute(value) && !value.includes('\0') ? value : undefined,
};

const RESOURCE: Setting<string> = {
  expected: 'the URL of the resource that the login is for',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && URL.canParse(value) ? value : undefined),
};
