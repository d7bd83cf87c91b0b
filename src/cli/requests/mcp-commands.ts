import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import { allPages, collected } from './all-pages.ts';
import type { RequestTerminal } from './request-terminal.ts';
import { table } from './table.ts';

/** Starts the configured MCP servers and prints them. */
export async function listMcpServers(client: Client, { json }: { json: boolean }, { print, columns }: RequestTerminal): Promise<boolean> {
  const servers = await collected(allPages((cursor) => client.request('mcpServerStatus/list', { cursor })));
  if (json) print(`${JSON.stringify({ data: servers })}\n`);
  else if (servers.length === 0) print('config.toml has no MCP servers: docs/mcp.md says how to add one.\n');
  else {
    const rows = servers.map(({ name, runtimeStatus, authStatus, tools, toolsError }) => [
      name,
      runtimeStatus ?? '',
      authStatus,
      String(Object.keys(tools).length),
      toolsError ?? '',
    ]);
    print(table(['SERVER', 'STATUS', 'LOGIN', 'TOOLS', 'ERROR'], rows, columns));
  }
  return true;
}

/** Logs in to an MCP server: prints the address that the user opens, and waits for the login to end. Returns whether it succeeded. */
export async function logIn(client: Client, { name }: { name: string }, { print }: RequestTerminal): Promise<boolean> {
  const ends = client.notifications('mcpServer/oauthLogin/completed');
  const { authorizationUrl } = await client.request('mcpServer/oauth/login', { name });
  print(`Open this address in a browser and log in:\n\n  ${showText(authorizationUrl)}\n\n`);
  for await (const { name: ended, success, error } of ends) {
    if (ended !== name) continue;
    print(success ? `Logged in to ${showText(name)}.\n` : `The login has failed: ${showText(error ?? 'no reason is known')}\n`);
    return success;
  }
  return false;
}
