import type { Client } from '../../client/client.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { allPages, collected } from './all-pages.ts';
import { type Column, table } from './table.ts';

const COLUMNS: Column[] = [
  { title: 'SERVER' },
  { title: 'STATUS' },
  { title: 'LOGIN' },
  { title: 'TOOLS' },
  { title: 'ERROR', keeps: 'start' },
];

/** Starts the configured MCP servers and prints them. */
export async function listMcpServers(
  client: Client,
  { json }: { json: boolean },
  { print, columns }: Terminal,
): Promise<boolean> {
  const servers = await collected(
    allPages((cursor) => client.request('mcpServerStatus/list', { cursor })),
  );
  if (json) print(`${JSON.stringify({ data: servers })}\n`);
  else if (servers.length === 0)
    print('config.toml has no MCP servers: docs/mcp.md says how to add one.\n');
  else {
    const rows = servers.map(({ name, runtimeStatus, authStatus, tools, toolsError }) => [
      name,
      runtimeStatus ?? (toolsError === null ? 'ready' : 'failed'),
      authStatus,
      String(Object.keys(tools).length),
      toolsError ?? '',
    ]);
    print(table(COLUMNS, rows, columns));
  }
  return true;
}
