import { isFolder } from '../../base/paths/is-folder.ts';
import type { Config } from '../../config/config.ts';
import type { McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import { mcpSettings } from '../../config/mcp/mcp-settings.ts';
import { type DoctorCheck, type DoctorProblem, NO_CONFIGURATION } from './doctor-check.ts';
import { programPath } from './program-path.ts';

/**
 * Looks at the MCP servers of the configuration: whether their programs exist, and the variables
 * with their tokens. Does not start them and does not connect to them. `cwd`: the folder of
 * threads.
 */
export async function checkMcpServers(config: Config | null, cwd: string): Promise<DoctorCheck> {
  if (config === null)
    return { name: 'mcpServers', summary: NO_CONFIGURATION, facts: {}, problems: [] };
  const { servers, problems: unusable } = mcpSettings(config);
  const problems: DoctorProblem[] = [];
  for (const server of servers.filter(({ enabled }) => enabled))
    problems.push(...(await problemsOf(server, cwd)));
  const names = [...servers.map(shown), ...unusable.map(({ name }) => `${name} (not usable)`)];
  const facts = {
    servers: [...servers, ...unusable].map(({ name }) => name),
    enabled: servers.filter(({ enabled }) => enabled).map(({ name }) => name),
  };
  return {
    name: 'mcpServers',
    summary: names.length === 0 ? 'none' : names.join(', '),
    facts,
    problems,
  };
}

function shown({ name, enabled, transport }: McpServerConfig): string {
  const place = transport.type === 'http' ? `${name} at ${new URL(transport.url).host}` : name;
  return enabled ? place : `${place} (switched off)`;
}

/** A server that is required refuses threads; they start without any other. */
async function problemsOf(
  { name, required, transport }: McpServerConfig,
  cwd: string,
): Promise<DoctorProblem[]> {
  const severity = required ? 'error' : 'warning';
  if (transport.type === 'http') {
    const { bearerToken, bearerTokenVariable } = transport;
    if (bearerTokenVariable === null || bearerToken !== null) return [];
    const message = `the variable ${bearerTokenVariable} with the token of the MCP server ${name} is not set`;
    return [
      {
        severity,
        message,
        fix: `Set ${bearerTokenVariable}, or correct mcp_servers.${name}.bearer_token_env_var in config.toml.`,
      },
    ];
  }
  const own = transport.cwd ?? cwd;
  const found = await programPath(transport.command, { cwd: own, path: transport.env.PATH });
  if (typeof found === 'string') return [];
  const message = `the MCP server ${name} does not start: ${found.problem}`;
  const table = `mcp_servers.${name}`;
  if (transport.command.includes('/') && found.problem.endsWith('Permission denied'))
    return [{ severity, message, fix: `Run chmod +x ${transport.command}` }];
  const fix = isFolder(own)
    ? `Install it, or correct ${table}.command`
    : `Make the folder, or correct ${table}.cwd`;
  return [{ severity, message, fix: `${fix} in config.toml.` }];
}
