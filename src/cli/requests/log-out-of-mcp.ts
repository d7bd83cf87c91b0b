import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { Terminal } from '../terminal/terminal-at.ts';

/**
 * Removes the login to an MCP server. Returns true: without a login, there is nothing to remove.
 */
export async function logOutOfMcp(
  client: Client,
  { name }: { name: string },
  { print }: Terminal,
): Promise<boolean> {
  const { wasLoggedIn } = await client.request('mcpServer/oauth/logout', { name });
  print(
    wasLoggedIn
      ? `Logged out of ${showText(name)}.\n`
      : `There was no login to ${showText(name)}.\n`,
  );
  return true;
}
