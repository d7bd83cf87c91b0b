import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { choice, HTTP_URL, nullable, type Setting } from '../settings.ts';
import type { McpServerConfig } from './mcp-server-config.ts';
import { type McpServerProblem, readMcpServers, type UnknownKey } from './read-mcp-servers.ts';
import { readSafetyCheck, type SafetyCheck } from './read-safety-check.ts';

/** What a thread's configuration says about MCP. */
export interface McpSettings {
  servers: readonly McpServerConfig[];
  problems: readonly McpServerProblem[];
  /** Null: there is none. `invalid`: its configuration cannot be read, so that it fails. */
  check: SafetyCheck | { type: 'invalid'; error: ConfigError } | null;
  /** Where the browser is sent back to at the end of a login: a port of this machine, or an address. Null: chosen for each login. */
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
  if (read('mcp_oauth_credentials_store', choice(['auto', 'file', 'keyring'], 'auto')) === 'keyring')
    further.push(
      config.error(['mcp_oauth_credentials_store'], '"keyring" is not supported: logins are stored in a file that only you can read'),
    );
  const { servers, problems, further: ofTable, unknown } = readMcpServers(config);
  return { servers, problems, check: check(config), callback, further: [...ofTable, ...further], unknown };
}

const PORT: Setting<number> = {
  expected: 'a port, 1 to 65535',
  absent: 0,
  read: (value) => (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535 ? value : undefined),
};

function check(config: Config): McpSettings['check'] {
  try {
    return readSafetyCheck(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { type: 'invalid', error };
  }
}

/** The errors in the configuration of MCP, for users. `required`: threads are refused for it. */
export function mcpProblems(config: Config): { error: ConfigError; required: boolean }[] {
  const { problems, check: safetyCheck, further } = mcpSettings(config);
  const others = [...further, ...(safetyCheck?.type === 'invalid' ? [safetyCheck.error] : [])];
  return [...problems, ...others.map((error) => ({ error, required: false }))];
}
