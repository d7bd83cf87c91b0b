import { arch } from 'node:os';
import { systemClock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import { showText } from '../../base/text/show-text.ts';
import { TrustedFiles } from '../../config/trust/trusted-files.ts';
import { createSandbox } from '../../sandbox/create-sandbox.ts';
import type { Installation } from '../../sandbox/places/server-places.ts';
import { createProcesses } from '../../sandbox/processes/create-processes.ts';
import type { SendSignal } from '../../sandbox/processes/ending/kill-processes.ts';
import type { NodeVersions } from '../../store/sqlite/connect/native-build-problem.ts';
import { checkConfig } from './check-config.ts';
import { checkGit } from './check-git.ts';
import { checkHome } from './check-home.ts';
import { checkMcpServers } from './check-mcp-servers.ts';
import { checkProvider } from './check-provider.ts';
import { checkProxies } from './check-proxies.ts';
import { checkSandbox } from './check-sandbox.ts';
import { checkSearch } from './check-search.ts';
import { checkShell } from './check-shell.ts';
import { checkStore } from './check-store.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';

export interface DoctorOptions {
  /** The absolute path of the home. */
  home: string;
  /** The source of the home: a variable, or the default. */
  homeSource: string;
  cwd: string;
  env: Env;
  overrides: readonly string[];
  json: boolean;
  version: string;
  platform: NodeJS.Platform;
  nodeVersions: NodeVersions;
  installation: Installation;
  systemDir: string | null;
  /** `process.kill`. */
  sendSignal: SendSignal;
}

/**
 * Looks at everything that a server would use, and prints what was found, with one thing to do for each problem. Changes nothing. Returns
 * whether there is no error; warnings do not count.
 */
export async function runDoctor(options: DoctorOptions, print: (text: string) => void): Promise<boolean> {
  const checks = await allChecks(options);
  const isWell = !checks.some(({ problems }) => problems.some(({ severity }) => severity === 'error'));
  const { version, nodeVersions, platform } = options;
  print(options.json ? `${JSON.stringify({ ok: isWell, version, node: nodeVersions.node, platform, checks })}\n` : shown(checks, isWell));
  return isWell;
}

async function allChecks({ home, homeSource, cwd, env, overrides, ...machine }: DoctorOptions): Promise<DoctorCheck[]> {
  const { platform, installation, version, nodeVersions, systemDir, sendSignal } = machine;
  // The doctor records nothing.
  const trustedFiles = new TrustedFiles({ home, writes: false });
  const { check, config } = await checkConfig({ home, cwd, env, overrides, trustedFiles, systemDir });
  const deps = { platform, arch: arch(), home, storeDir: home, clock: systemClock, installation, userHome: env.HOME ?? null };
  const sandbox = createSandbox(deps);
  const processes = createProcesses({ platform, env, sandbox, sendSignal, log: silent });
  try {
    const [provider, store, bounds, shell, git, mcpServers] = await Promise.all([
      checkProvider(config, { env, clock: systemClock, log: silent, userAgent: `heddle/${version}` }),
      checkStore(home, nodeVersions),
      checkSandbox(sandbox),
      checkShell(config, { processes, clock: systemClock, env }),
      checkGit(cwd, env),
      checkMcpServers(config, cwd),
    ]);
    return [checkHome(home, homeSource), check, provider, store, bounds, shell, git, checkSearch(), mcpServers, checkProxies(env)];
  } finally {
    // Also closes the sandbox.
    await processes.close();
  }
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

const TITLES: Record<DoctorCheck['name'], string> = {
  home: 'Home',
  configuration: 'Configuration',
  provider: 'Model provider',
  store: 'Threads',
  sandbox: 'Sandbox',
  shell: 'Shell',
  git: 'Git',
  search: 'Search of files',
  mcpServers: 'MCP servers',
  proxies: 'Proxies and certificates',
};

function shown(checks: readonly DoctorCheck[], isWell: boolean): string {
  const parts = checks.map(({ name, summary, problems }) => `${TITLES[name]}: ${line(summary)}\n${problems.map(shownProblem).join('')}`);
  const count = checks.flatMap(({ problems }) => problems).length;
  const end =
    count === 0
      ? 'No problems were found.'
      : `${count} ${count === 1 ? 'problem was' : 'problems were'} found${isWell ? ', none of which stops heddle' : ''}.`;
  return `${parts.join('')}\n${end}\n`;
}

function shownProblem({ severity, message, fix }: DoctorProblem): string {
  const first = `  ${severity}: ${line(message)}\n`;
  return fix === null ? first : `${first}    To do: ${line(fix)}\n`;
}

function line(text: string): string {
  return showText(text.replace(/\s*\n\s*/g, ' '));
}
