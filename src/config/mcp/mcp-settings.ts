import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import type { McpServerConfig } from './mcp-server-config.ts';
import { type McpServerProblem, readMcpServers } from './read-mcp-servers.ts';
import { readSafetyCheck, type SafetyCheck } from './read-safety-check.ts';

/** What a thread's configuration says about MCP. */
export interface McpSettings {
  servers: readonly McpServerConfig[];
  problems: readonly McpServerProblem[];
  /** Null: there is none. `invalid`: its configuration cannot be read, so that it fails. */
  check: SafetyCheck | { type: 'invalid'; error: ConfigError } | null;
}

/** Never throws a ConfigError: a thread that uses no server needs none of it. */
export function mcpSettings(config: Config): McpSettings {
  return { ...readMcpServers(config), check: check(config) };
}

function check(config: Config): McpSettings['check'] {
  try {
    return readSafetyCheck(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { type: 'invalid', error };
  }
}

/** The errors in the configuration of MCP, for users. */
export function mcpProblems(config: Config): ConfigError[] {
  const { problems, check: safetyCheck } = mcpSettings(config);
  return [...problems.map(({ error }) => error), ...(safetyCheck?.type === 'invalid' ? [safetyCheck.error] : [])];
}
