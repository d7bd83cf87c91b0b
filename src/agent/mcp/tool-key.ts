import { createHash } from 'node:crypto';
import { type JsonValue, withSortedKeys } from '../../base/json-value.ts';
import {
  approvalModeOf,
  type McpApprovalMode,
  type McpServerConfig,
  serverKey,
} from '../../config/mcp/mcp-server-config.ts';
import type { McpTool } from '../../mcp/messages/mcp-host.ts';

/**
 * Identifies a tool with everything that the user or the guardian was shown of it: its server, its
 * name, and its whole definition, with description, schema and hints. A tool that its server has
 * changed is another one.
 */
export function toolKey(config: McpServerConfig, tool: McpTool): string {
  return hashOf([serverKey(config), tool.name, tool.raw]);
}

/**
 * The same to store in the configuration: of the server, only its program and arguments or its URL,
 * and no secret.
 */
export function storedToolKey({ name, transport }: McpServerConfig, tool: McpTool): string {
  const place =
    transport.type === 'stdio' ? [transport.command, ...transport.args] : [transport.url];
  return hashOf([name, transport.type, place, tool.name, tool.raw]);
}

/**
 * When calls of this tool need approval. An approval that was stored for another definition of the
 * tool does not count.
 */
export function toolApprovalMode(config: McpServerConfig, tool: McpTool): McpApprovalMode {
  const mode = approvalModeOf(config, tool.name);
  const approved = Object.hasOwn(config.approvedTools, tool.name)
    ? config.approvedTools[tool.name]
    : undefined;
  return mode === 'approve' && approved !== undefined && approved !== storedToolKey(config, tool)
    ? config.approvalMode
    : mode;
}

function hashOf(value: JsonValue): string {
  return createHash('sha256')
    .update(JSON.stringify(withSortedKeys(value)))
    .digest('hex');
}
