import type { Config } from '../config.ts';
import { untilCorrected } from '../keys/loss-of-keys.ts';
import { choice, HTTP_URL, nullable, type Setting } from '../settings/setting.ts';
import { ConfigError } from '../toml/config-error.ts';
import type { McpServerConfig } from './mcp-server-config.ts';
import { type McpServerProblem, readMcpServers } from './read-mcp-servers.ts';
import { readSafetyCheck, type SafetyCheck } from './read-safety-check.ts';
import type { UnknownKey } from './unknown-server-keys.ts';

/** The settings of MCP in a thread's configuration. */
export interface McpSettings {
  servers: readonly McpServerConfig[];
  problems: readonly McpServerProblem[];
  /** Null: there is none. `invalid`: its configuration cannot be read, so that it fails. */
  check: SafetyCheck | { type: 'invalid'; error: ConfigError } | null;
  /**
   * The target of the browser at the end of a login: a port of this machine, or an address. Null:
   * chosen for each login.
   */
  callback: { port: number | null; url: string | null };
  /** Other problems: of the whole table of servers, or such as only logins meet. */
  further: readonly ConfigError[];
  /** Keys of servers that have no effect. */
  unknown: readonly UnknownKey[];
}

/** Never throws a ConfigError: a thread that uses no server needs none of it. */
export function mcpSettings(config: Config): McpSettings {
  const further: ConfigError[] = [];
  const read = <T>(key: string, setting: Setting<T>): T => {
    try {
      return config.read([key], setting);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      further.push(error);
      return setting.absent;
    }
  };
  const callback = {
    port: read('mcp_oauth_callback_port', nullable(PORT)),
    url: read('mcp_oauth_callback_url', nullable(HTTP_URL)),
  };
  read('mcp_oauth_credentials_store', MCP_LOGIN_STORE);
  const { servers, problems, further: ofTable, unknown } = readMcpServers(config);
  return {
    servers,
    problems,
    check: check(config),
    callback,
    further: [...ofTable, ...further],
    unknown,
  };
}

/** The places in which other programs keep the logins to MCP servers. */
export const MCP_LOGIN_STORE = choice(['auto', 'file', 'keyring'], 'auto');

const PORT: Setting<number> = {
  expected: 'a port, 1 to 65535',
  absent: 0,
  read: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535
      ? value
      : undefined,
};

function check(config: Config): McpSettings['check'] {
  try {
    return readSafetyCheck(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { type: 'invalid', error };
  }
}

/**
 * The errors in the configuration of MCP, and what each means for users. Null: threads are refused
 * for it.
 */
export function mcpProblems(config: Config): { error: ConfigError; details: string | null }[] {
  const { problems, check: safetyCheck, further } = mcpSettings(config);
  const ofCheck = safetyCheck?.type === 'invalid' ? [safetyCheck.error] : [];
  return [
    ...problems.map(({ error, required }) => ({
      error,
      details: required ? null : untilCorrected('Threads start without it'),
    })),
    ...further.map((error) => ({ error, details: untilCorrected('It has no effect') })),
    ...ofCheck.map((error) => ({
      error,
      details: untilCorrected('Every call of an MCP tool needs approval'),
    })),
  ];
}
