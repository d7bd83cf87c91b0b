import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpServers } from '../../mcp/mcp-servers.ts';
import { unattended } from '../../mcp/mcp-user.ts';
import { requiredServersFailed } from '../../protocol/mcp-errors.ts';

/**
 * Waits until the servers that the configuration requires are ready. Those that have failed are
 * started again at once. They keep running for a moment, so that the thread shares them. Throws an
 * RpcError that names those that cannot be started.
 */
export async function requireServers(
  { servers, problems }: McpSettings,
  mcp: McpServers,
  root: string,
): Promise<void> {
  const failures = problems
    .filter(({ required }) => required)
    .map(({ name, error }) => `${name}: ${error.message}`);
  const needed = servers.filter(({ enabled, required }) => enabled && required);
  await Promise.all(
    needed.map(async (config) => {
      const { server, release } = mcp.use(config, unattended(root));
      try {
        server.startFailed();
        await server.settled(new AbortController().signal);
        if (server.state.status === 'failed')
          failures.push(`${config.name}: ${server.state.error}`);
      } finally {
        release();
      }
    }),
  );
  if (failures.length > 0) throw requiredServersFailed(failures.sort());
}
