import type { HttpClient } from '../../base/http/http-client.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpTool } from '../../mcp/messages/mcp-host.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ThreadServer } from './thread-servers.ts';
import type { ToolApprovals } from './tool-approvals.ts';

/** The services that only the tools of MCP servers need. */
export interface McpServices {
  /** Stores approvals of tools. */
  toolApprovals: ToolApprovals;
  /** For requests to other servers than providers. */
  http: HttpClient;
}

/** A thread, with the services that only the tools of MCP servers need. */
export interface McpThread extends McpServices {
  thread: ThreadContext;
}

/** A call of a server's tool. */
export interface McpToolCall {
  used: ThreadServer;
  tool: McpTool;
  context: CallContext;
  settings: McpSettings;
  of: McpThread;
}
