import { createHash } from 'node:crypto';
import { type McpServerConfig, serverKey } from '../../config/mcp/mcp-server-config.ts';
import type { McpTool } from '../../mcp/to-host.ts';

/**
 * Identifies a tool with everything that the user or the guardian was shown of it: its server, its name, and its whole definition, with
 * description, schema and hints. A tool that its server has changed is another one.
 */
export function toolKey(config: McpServerConfig, { name, raw }: McpTool): string {
  return createHash('sha256')
    .update(JSON.stringify([serverKey(config), name, raw]))
    .digest('hex');
}
