import type { Env } from '../../base/env.ts';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import { variableNamesSecret } from '../../secrets/names-secret.ts';
import { longestFirst, secretsOf } from '../../secrets/redact.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { choice, flag, name, nullable, type Setting } from '../settings.ts';
import { suggestKey } from '../suggest-key.ts';
import type { McpApprovalMode, McpHttp, McpServerConfig, McpStdio } from './mcp-server-config.ts';

/** The servers of a configuration. One that cannot be read is a problem, and no thread is refused for it unless it is required. */
export interface McpServers {
  servers: McpServerConfig[];
  problems: McpServerProblem[];
}

export interface McpServerProblem {
  name: string;
  required: boolean;
  error: ConfigError;
}

const TABLE = 'mcp_servers';
const STARTUP_MS_DEFAULT = 10_000;
const TOOL_MS_DEFAULT = 60_000;
const SECONDS_MAX = 24 * 60 * 60;
const MODES = ['auto', 'prompt', 'approve'] as const;

const OF_STDIO = ['command', 'args', 'env', 'env_vars', 'cwd'];
const OF_HTTP = ['url', 'bearer_token_env_var', 'http_headers', 'env_http_headers', 'scopes', 'oauth_resource', 'oauth'];
const OF_OAUTH = ['client_id', 'client_secret_env_var', 'client_metadata_url'];
const OF_BOTH = [
  'enabled',
  'required',
  'enabled_tools',
  'disabled_tools',
  'startup_timeout_sec',
  'startup_timeout_ms',
  'tool_timeout_sec',
  'default_tools_approval_mode',
  'supports_parallel_tool_calls',
  'tools',
];

/** The server's variables that a stdio server gets: what programs commonly need, and nothing that is meant to be a secret. */
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
export function readMcpServers(config: Config): McpServers {
  const servers: McpServerConfig[] = [];
  const problems: McpServerProblem[] = [];
  for (const server of serverNames(config, problems)) {
    try {
      servers.push(readServer(config, server));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (!isOff(config, server)) problems.push({ name: server, required: isRequired(config, server), error });
    }
  }
  return { servers, problems };
}

function serverNames(config: Config, problems: McpServerProblem[]): string[] {
  try {
    return config.keys([TABLE]).sort();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push({ name: TABLE, required: false, error });
    return [];
  }
}

function isOff(config: Config, server: string): boolean {
  return rawValue(config, [TABLE, server, 'enabled']) === false;
}

function isRequired(config: Config, server: string): boolean {
  return rawValue(config, [TABLE, server, 'required']) === true;
}

function rawValue(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>((table, key) => (isObject(table) && Object.hasOwn(table, key) ? table[key] : undefined), config.values);
}

function readServer(config: Config, server: string): McpServerConfig {
  const path = [TABLE, server];
  if (!/^[\w.-]{1,64}$/.test(server)) throw config.error(path, 'expected a name of at most 64 letters, digits, ".", "-" and "_"');
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const transport = readTransport(config, path);
  const known = [...OF_BOTH, ...(transport.type === 'stdio' ? OF_STDIO : OF_HTTP)];
  for (const key of config.keys(path)) if (!known.includes(key)) throw unknownKey(config, [...path, key], known, transport.type);
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
    toolApprovals: toolApprovals(config, [...path, 'tools']),
    secrets: secretsIn(transport, transport.type === 'stdio' ? read('env', VARIABLES) : {}),
  };
}

/** `env`: the variables that the configuration itself sets. Names such as PATH say nothing secret. */
function secretsIn(transport: McpStdio | McpHttp, env: Readonly<Record<string, string>>): string[] {
  if (transport.type === 'stdio')
    return longestFirst(Object.entries(env).flatMap(([key, value]) => (variableNamesSecret(key) || holdsSecret(value) ? value : [])));
  const { url, headers, bearerToken, oauth } = transport;
  return longestFirst([
    ...secretsOf(new URL(url), headers),
    ...(bearerToken === null ? [] : [bearerToken]),
    ...(oauth.clientSecret === null ? [] : [oauth.clientSecret]),
  ]);
}

function unknownKey(config: Config, path: readonly string[], known: readonly string[], type: 'stdio' | 'http'): ConfigError {
  const key = path.at(-1) ?? '';
  if (OF_STDIO.includes(key)) return config.error(path, 'only a server with a command can have it, and this one has a url');
  if (OF_HTTP.includes(key)) return config.error(path, 'only a server with a url can have it, and this one has a command');
  const suggested = suggestKey(key, known);
  const help = suggested === null ? `The keys of a ${type} server are ${known.join(', ')}.` : `Did you mean ${suggested}?`;
  return config.error(path, `not a key of an MCP server. ${help}`);
}

function readTransport(config: Config, path: readonly string[]): McpStdio | McpHttp {
  const command = config.read([...path, 'command'], nullable(name()));
  const url = config.read([...path, 'url'], nullable(HTTP_URL));
  if (command !== null && url !== null) throw config.error([...path, 'url'], 'a server has either a command or a url');
  if (command !== null) return readStdio(config, path, command);
  if (url !== null) return readHttp(config, path, url);
  throw config.error(path, 'command or url is missing: expected the program to start, or the http or https URL of the server');
}

function readStdio(config: Config, path: readonly string[], command: string): McpStdio {
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const names = [...INHERITED, ...read('env_vars', VARIABLE_NAMES)];
  return {
    type: 'stdio',
    command,
    args: read('args', TEXT_LIST),
    env: { ...pickVariables(config.env, names), ...read('env', VARIABLES) },
    cwd: read('cwd', nullable(name())),
  };
}

function readHttp(config: Config, path: readonly string[], url: string): McpHttp {
  const read = <T>(key: string, setting: Setting<T>) => config.read([...path, key], setting);
  const variable = read('bearer_token_env_var', nullable(VARIABLE_NAME));
  const token = variable === null ? undefined : config.env[variable];
  const oauth = [...path, 'oauth'];
  for (const key of config.keys(oauth))
    if (!OF_OAUTH.includes(key)) throw config.error([...oauth, key], `not a key of oauth. Its keys are ${OF_OAUTH.join(', ')}.`);
  const secretVariable = config.read([...oauth, 'client_secret_env_var'], nullable(VARIABLE_NAME));
  return {
    type: 'http',
    url,
    headers: { ...read('http_headers', HEADERS), ...headersFromEnv(config, [...path, 'env_http_headers']) },
    bearerToken: token === undefined || token === '' ? null : token,
    bearerTokenVariable: variable,
    oauth: {
      scopes: read('scopes', nullable(TEXT_LIST)),
      resource: read('oauth_resource', nullable(RESOURCE)),
      clientId: config.read([...oauth, 'client_id'], nullable(name())),
      clientSecret: (secretVariable === null ? undefined : config.env[secretVariable]) || null,
      clientMetadataUrl: config.read([...oauth, 'client_metadata_url'], nullable(HTTP_URL)),
    },
  };
}

function headersFromEnv(config: Config, path: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, variable] of Object.entries(config.read(path, HEADER_VARIABLES))) {
    const value = config.env[variable];
    if (!value) continue;
    if (!isHeaderText(value)) throw config.error([...path, header], `the value of ${variable} must be a single line`);
    headers[header] = value;
  }
  return headers;
}

function toolApprovals(config: Config, path: readonly string[]): Record<string, McpApprovalMode> {
  const modes: [string, McpApprovalMode][] = [];
  for (const tool of config.keys(path)) {
    const keys = config.keys([...path, tool]);
    for (const key of keys) {
      if (key !== 'approval_mode') throw config.error([...path, tool, key], 'not a key of a tool. Its key is approval_mode.');
    }
    if (keys.length > 0) modes.push([tool, config.read([...path, tool, 'approval_mode'], choice(MODES, 'auto'))]);
  }
  return Object.fromEntries(modes);
}

function pickVariables(env: Env, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const each of names) if (Object.hasOwn(env, each) && env[each] !== undefined) picked[each] = env[each];
  return picked;
}

function seconds(absentMs: number): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && value > 0 ? Math.max(1, Math.round(Math.min(value, SECONDS_MAX) * 1000)) : undefined;
  return { expected: 'a number of seconds, more than 0', absent: absentMs, read };
}

function milliseconds(): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, SECONDS_MAX * 1000) : undefined;
  return { expected: 'a whole number of milliseconds, more than 0', absent: STARTUP_MS_DEFAULT, read };
}

const TEXT_LIST: Setting<string[]> = {
  expected: 'a list of strings',
  absent: [],
  secret: true,
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((element) => typeof element === 'string' && !element.includes('\0')) as string[];
    return texts.length === value.length ? texts : undefined;
  },
};

const HTTP_URL: Setting<string> = {
  expected: 'an http or https URL',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined),
};

const RESOURCE: Setting<string> = {
  expected: 'the URL of the resource that the login is for',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && URL.canParse(value) ? value : undefined),
};

const VARIABLE_NAME: Setting<string> = {
  expected: 'the name of an environment variable, not the token itself',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && isVariableName(value) ? value : undefined),
};

/** A name, or a table with a name: `{ name = "TOKEN" }`. */
const VARIABLE_NAMES: Setting<string[]> = {
  expected: 'a list of names of environment variables',
  absent: [],
  secret: true,
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const names = value.map((element) => (isObject(element) ? element.name : element));
    return names.every((each): each is string => typeof each === 'string' && isVariableName(each)) ? names : undefined;
  },
};

const VARIABLES: Setting<Record<string, string>> = {
  expected: 'a table of variable names and string values',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => /^[^=\0]+$/.test(key) && !text.includes('\0')),
};

const HEADERS: Setting<Record<string, string>> = {
  expected: 'a table of header names and single-line string values',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isHeaderText(text)),
};

const HEADER_VARIABLES: Setting<Record<string, string>> = {
  expected: 'a table of header names and environment variable names',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isVariableName(text)),
};

function readTexts(value: JsonValue, accepts: (key: string, text: string) => boolean): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const texts: [string, string][] = [];
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string' || !accepts(key, text)) return undefined;
    texts.push([key, text]);
  }
  return Object.fromEntries(texts);
}

function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

function isHeaderText(text: string): boolean {
  return !/[\r\n\0]/.test(text);
}

/** Stricter than the system, so that a token given instead of a variable name is noticed. */
function isVariableName(text: string): boolean {
  return /^[a-z_]\w*$/i.test(text);
}
