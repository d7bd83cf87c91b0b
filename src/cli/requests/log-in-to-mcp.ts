import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { Terminal } from '../terminal/terminal-at.ts';

/**
 * Logs in to an MCP server: prints the address that the user opens, and waits for the login to end.
 * Returns whether it succeeded.
 */
export async function logInToMcp(
  client: Client,
  { name }: { name: string },
  { print }: Terminal,
): Promise<boolean> {
  const ends = client.notifications('mcpServer/oauthLogin/completed');
  const { authorizationUrl } = await client.request('mcpServer/oauth/login', { name });
  print(`Open this address in a browser and log in:\n\n  ${showText(authorizationUrl)}\n\n`);
  for await (const { name: ended, success, error } of ends) {
    if (ended !== name) continue;
    print(
      success
        ? `Logged in to ${showText(name)}.\n`
        : `The login has failed: ${showText(error ?? 'no reason is known')}\n`,
    );
    return success;
  }
  return false;
}
