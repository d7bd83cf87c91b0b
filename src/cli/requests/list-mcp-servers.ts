import type { Client } from '../../client/client.ts';
import type { McpServerStatus } from '../../protocol/generated/types.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { allPages, collected } from './all-pages.ts';
import { type Column, table } from './table.ts';

const COLUMNS: Column[] = [
  { title: 'SERVER' },
  { title: 'STATUS' },
  { title: 'LOGIN' },
  { title: 'TOOLS' },
  { title: 'ERROR' },
];

const NONE =
  'config.toml has no MCP servers: docs/mcp.md says how to add one, and heddle doctor names misspelt tables.';

/** Starts the configured MCP servers and prints them. */
export async function listMcpServers(
  client: Client,
  { json }: { json: boolean },
  { print }: Terminal,
): Promise<boolean> {
  const servers = await collected(
    allPages((cursor) => client.request('mcpServerStatus/list', { cursor })),
  );
  if (json) print(`${JSON.stringify({ data: servers })}\n`);
  else if (servers.length === 0) print(`${NONE}\n`);
  else {
    const rows = servers.map((server) => [
      server.name,
      statusOf(server),
      server.authStatus,
      String(Object.keys(server.tools).length),
      server.toolsError ?? '',
    ]);
    // An error ends with what to do, so it is not cut.
    print(table(COLUMNS, rows, null));
  }
  return true;
}

/**
 * Without a thread, the list has no status of a server that is fine, and none of one that is not
 * enabled.
 */
function statusOf({ runtimeStatus, toolsError, serverInfo }: McpServerStatus): string {
  if (runtimeStatus !== null) return runtimeStatus;
  if (toolsError !== null) return 'failed';
  return serverInfo === null ? 'disabled' : 'ready';
}
