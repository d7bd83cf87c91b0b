import type { Env } from '../../base/env.ts';
import { isObject } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { findProgram } from '../../sandbox/processes/find-program.ts';
import { ProcessStartError } from '../../sandbox/processes/processes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

/** Runs a command in the sandbox of this system. */
export async function checkSandbox(sandbox: Pick<Sandbox, 'available'>): Promise<DoctorCheck> {
  const available = await sandbox.available();
  if ('name' in available) return { name: 'sandbox', summary: available.name, facts: { sandbox: available.name }, problems: [] };
  const problem: DoctorProblem = {
    severity: 'error',
    message: available.problem,
    fix: 'Install it, or set sandbox_mode = "danger-full-access".',
  };
  return { name: 'sandbox', summary: 'none', facts: { sandbox: null }, problems: [problem] };
}

/** Looks for git, which heddle itself does not start, but models do. */
export async function checkGit(cwd: string, env: Env): Promise<DoctorCheck> {
  const path = await programPath('git', cwd, env);
  const problems: DoctorProblem[] =
    path === null
      ? [{ severity: 'warning', message: 'git is not in the PATH, so commands of models cannot use it', fix: 'Install git.' }]
      : [];
  return { name: 'git', summary: path ?? 'not found', facts: { path }, problems };
}

/** Looks at the MCP servers of the configuration: whether their programs exist. Does not start them. */
export async function checkMcpServers(config: Config | null, { cwd, env }: { cwd: string; env: Env }): Promise<DoctorCheck> {
  const tables = serverTables(config);
  const problems: DoctorProblem[] = [];
  for (const [id, { command, enabled }] of tables) {
    if (enabled === false || typeof command !== 'string' || (await programPath(command, cwd, env)) !== null) continue;
    problems.push({
      severity: 'error',
      message: `the program of the MCP server ${id} was not found: ${command}`,
      fix: `Install it, or correct mcp_servers.${id}.command in config.toml.`,
    });
  }
  const names = tables.map(([id]) => id);
  return { name: 'mcpServers', summary: names.length === 0 ? 'none' : names.join(', '), facts: { servers: names }, problems };
}

async function programPath(name: string, cwd: string, env: Env): Promise<string | null> {
  const path = env.PATH === undefined ? {} : { PATH: env.PATH };
  try {
    return await findProgram(name, { cwd, env: path });
  } catch (error) {
    if (error instanceof ProcessStartError) return null;
    throw error;
  }
}

function serverTables(config: Config | null): [string, Record<string, unknown>][] {
  try {
    const ids = config?.keys(['mcp_servers']) ?? [];
    const servers = config?.values.mcp_servers;
    return ids.flatMap((id): [string, Record<string, unknown>][] => {
      const table = isObject(servers) ? servers[id] : undefined;
      return isObject(table) ? [[id, table]] : [];
    });
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
