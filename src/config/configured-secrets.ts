import { longestFirst } from '../secrets/redact.ts';
import type { Config } from './config.ts';
import { readMcpServers } from './mcp/read-mcp-servers.ts';
import { providerKeys } from './providers/provider-keys.ts';

/** The secrets that a configuration sends to model providers and MCP servers, the longest first. */
export function configuredSecrets(config: Config): string[] {
  return longestFirst([...providerKeys(config).values, ...readMcpServers(config).servers.flatMap(({ secrets }) => secrets)]);
}
