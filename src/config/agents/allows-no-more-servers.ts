import type { Config } from '../config.ts';
import {
  approvalModeOf,
  isToolEnabled,
  type McpApprovalMode,
  type McpServerConfig,
  serverKey,
} from '../mcp/mcp-server-config.ts';
import { readMcpServer } from '../mcp/read-mcp-servers.ts';
import { readOr } from '../toml/config-error.ts';

/** How much each mode lets run without approval. */
const LETS_RUN: Readonly<Record<McpApprovalMode, number>> = {
  prompt: 0,
  writes: 1,
  auto: 2,
  approve: 3,
};
/** Stands for all tools that the configuration does not name. No tool has an empty name. */
const ANY_OTHER = '';

/**
 * Whether the MCP server of this name lets the agents of a role do no more than the thread: the
 * same server, and no further tool.
 */
export function allowsNoMoreServers(
  name: string,
  { roles, own }: { roles: Config; own: Config },
): boolean {
  const theirs = serverNamed(name, roles);
  if (theirs === null) return true;
  const ours = serverNamed(name, own);
  return (
    ours !== null &&
    serverKey(theirs) === serverKey(ours) &&
    namedTools(theirs, ours).every((tool) => allows(tool, theirs, ours))
  );
}

/** Null: it is not used, because it is not there, switched off or invalid. */
function serverNamed(name: string, config: Config): McpServerConfig | null {
  const server = readOr(
    () => readMcpServer(config, name),
    () => null,
  );
  return server?.enabled === true ? server : null;
}

function namedTools(...servers: McpServerConfig[]): string[] {
  const named = servers.flatMap(({ enabledTools, disabledTools, toolApprovals }) => [
    ...(enabledTools ?? []),
    ...disabledTools,
    ...Object.keys(toolApprovals),
  ]);
  return [...named, ANY_OTHER];
}

function allows(tool: string, theirs: McpServerConfig, ours: McpServerConfig): boolean {
  if (!isToolEnabled(theirs, tool)) return true;
  // An approval for one definition allows less than one for any definition.
  const isBound =
    Object.hasOwn(ours.approvedTools, tool) && approvalModeOf(theirs, tool) === 'approve';
  if (isBound && ours.approvedTools[tool] !== theirs.approvedTools[tool]) return false;
  return (
    isToolEnabled(ours, tool) &&
    LETS_RUN[approvalModeOf(theirs, tool)] <= LETS_RUN[approvalModeOf(ours, tool)]
  );
}
