import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpTool } from '../../mcp/messages/to-host.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { TurnPartDeps } from '../turn/turn-part-deps.ts';
import type { ThreadServer } from './thread-servers.ts';

/** A call of a server's tool. */
export interface McpToolCall {
  used: ThreadServer;
  tool: McpTool;
  context: CallContext;
  settings: McpSettings;
  deps: TurnPartDeps;
}
