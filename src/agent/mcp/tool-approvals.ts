import type { McpServerConfig } from '../../config/mcp/mcp-server-config.ts';

/** Stores in the user's configuration that tools of MCP servers need no approval. */
export interface ToolApprovals {
  /**
   * Whether the user's configuration defines this very server, so that an approval of the tool can
   * be stored there.
   */
  mayStore(server: McpServerConfig, tool: string): Promise<boolean>;
  /**
   * `definition` identifies the one that the user was shown (`storedToolKey`). Returns the problem
   * as a sentence; null: it is stored.
   */
  store(server: McpServerConfig, tool: string, definition: string): Promise<string | null>;
}
