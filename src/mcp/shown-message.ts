import type { McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import { longestFirst, redact } from '../secrets/redact.ts';
import { redactLikelySecrets } from '../secrets/redact-likely-secrets.ts';
import type { ServerTokens } from './oauth/server-tokens.ts';

/** The message of an error without the secrets of the configuration and of the login. */
export function shownMessage(
  error: unknown,
  config: McpServerConfig,
  tokens: ServerTokens,
): string {
  const secrets = longestFirst([...config.secrets, ...tokens.given(config)]);
  return redactLikelySecrets(
    redact(error instanceof Error ? error.message : String(error), secrets),
  );
}
