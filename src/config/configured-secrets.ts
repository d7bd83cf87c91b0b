import { longestFirst } from '../secrets/redact.ts';
import type { Config } from './config.ts';
import { mcpSettings } from './mcp/mcp-settings.ts';
import { providerKeys } from './providers/provider-keys.ts';

/**
 * The secrets that a configuration sends to model providers, MCP servers and the check of their
 * calls, the longest first.
 */
export function configuredSecrets(config: Config): string[] {
  const { servers, check } = mcpSettings(config);
  const ofCheck = check === null || check.type === 'invalid' ? [] : check.secrets;
  return longestFirst([
    ...providerKeys(config).values,
    ...servers.flatMap(({ secrets }) => secrets),
    ...ofCheck,
  ]);
}
