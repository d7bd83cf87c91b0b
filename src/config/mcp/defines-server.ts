import { Config } from '../config.ts';
import { type McpServerConfig, serverKey } from './mcp-server-config.ts';
import { readMcpServers } from './read-mcp-servers.ts';

/**
 * Whether config.toml in the home, without profiles and other sources, defines this very server.
 */
export function definesServer(
  { home, env, modelGiven, layers }: Config,
  server: McpServerConfig,
): boolean {
  const user = layers.find(({ name }) => name.type === 'user' && name.profile === null);
  if (user === undefined) return false;
  const { servers } = readMcpServers(
    new Config({ home, env, modelGiven, layers: [user], values: user.config }),
  );
  return servers.some((own) => serverKey(own) === serverKey(server));
}
