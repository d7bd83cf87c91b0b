import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { McpHostClient } from './mcp-host-client.ts';
import type { ServerTokens } from './oauth/server-tokens.ts';

/** The services that all MCP servers share. */
export interface McpServerDeps {
  host: McpHostClient;
  processes: Processes;
  clock: Clock;
  log: Log;
  tokens: ServerTokens;
}
