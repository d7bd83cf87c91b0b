import { mkdtempSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { showText } from '../../base/text/show-text.ts';
import type { ConfigSources } from '../../config/load-config.ts';
import { TrustRecordFile } from '../../config/trust/trust-record-file.ts';
import { createSandbox } from '../../sandbox/create-sandbox.ts';
import { guardListsFolder } from '../../sandbox/places/guard-list.ts';
import type { Installation } from '../../sandbox/places/server-places.ts';
import { createProcesses } from '../../sandbox/processes/create-processes.ts';
import type { SendSignal } from '../../sandbox/processes/ending/kill-processes.ts';
import type { NodeVersions } from '../../store/sqlite/connect/native-build-problem.ts';
import { ProgressLine, progressPlace } from '../progress/progress-line.ts';
import { type CheckedConfig, checkConfig } from './check-config.ts';
import { checkGit } from './check-git.ts';
import { checkHome, isWritableFolder } from './check-home.ts';
import { checkMcpServers } from './check-mcp-servers.ts';
import { checkPrograms } from './check-programs.ts';
import { checkProvider } from './check-provider.ts';
import { checkProxies } from './check-proxies.ts';
import { checkSandbox } from './check-sandbox.ts';
import { checkSearch } from './check-search.ts';
import { checkShell } from './check-shell.ts';
import { checkSkills } from './check-skills.ts';
import { checkStore } from './check-store.ts';
import { checkTrust } from './check-trust.ts';
import type { DoctorCheck, DoctorProblem } from './doctor-check.ts';
import { runCheck } from './run-check.ts';

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

export interface DoctorStreams {
  print(text: string): void;
  /** Shows the progress of slow checks. */
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
}

/**
 * Looks at everything that a server would use, and prints what was found, with one thing to do for
 * each problem. Changes nothing, but removes the guards that killed servers have left, and runs
 * nothing of the project. No check ends another one. Returns whether there is no error; warnings do
 * not count. A check that hangs may go on after that, so the caller ends the process.
 */
export async function runDoctor(
  options: DoctorOptions,
  { print, stderr }: DoctorStreams,
): Promise<boolean> {
  const deps = { clock: systemClock, write: (text: string) => stderr.write(text) };
  const progress = options.json ? null : new ProgressLine(progressPlace(stderr, options.env), deps);
  const checks = await allChecks(options, (open) =>
    progress?.step(`checking ${open.join(', ')}`),
  ).finally(() => progress?.end());
  const isWell = !checks.some(({ problems }) =>
    problems.some(({ severity }) => severity === 'error'),
  );
  const { version, nodeVersions, platform } = options;
  print(
    options.json
      ? `${JSON.stringify({ ok: isWell, version, node: nodeVersions.node, platform, checks })}\n`
      : shown(checks, isWell),
  );
  return isWell;
}

/** `onProgress` gets the titles of the checks that have not ended. */
async function allChecks(
  options: DoctorOptions,
  onProgress: (open: string[]) => void,
): Promise<DoctorCheck[]> {
  const { home, cwd, env, overrides, platform, installation, version, systemDir, sendSignal } =
    options;
  // The doctor records nothing.
  const trustedFiles = new TrustRecordFile({ home, writes: false });
  const userHome = env.HOME || null;
  const reading = readConfig({ home, cwd, env, overrides, trustedFiles, systemDir });
  const configured = async () => (await reading).config;
  // The sandbox makes files in the home, which must not appear for that, and whose faults have
  // their own line.
  const scratch = isWritableFolder(home) ? null : mkdtempSync(join(tmpdir(), 'heddle-doctor-'));
  const sandboxHome = scratch ?? home;
  const guardLists = guardListsFolder(env);
  const deps = {
    platform,
    arch: arch(),
    home: sandboxHome,
    storeDir: sandboxHome,
    clock: systemClock,
    installation,
    userHome,
  };
  const sandbox = createSandbox(deps);
  const providerDeps = { env, clock: systemClock, log: SILENT_LOG, userAgent: `heddle/${version}` };
  const processes = createProcesses({ platform, env, sandbox, sendSignal, log: SILENT_LOG });
  const checks: [DoctorCheck['name'], () => DoctorCheck | Promise<DoctorCheck>][] = [
    ['home', () => checkHome(home, { source: options.homeSource, userHome })],
    ['configuration', async () => (await reading).check],
    ['provider', async () => checkProvider(await configured(), providerDeps)],
    ['store', () => checkStore(home, options.nodeVersions)],
    ['sandbox', () => checkSandbox(sandbox, guardLists)],
    ['shell', async () => checkShell(await configured(), { processes, clock: systemClock, env })],
    ['git', () => checkGit(cwd, env)],
    ['search', () => checkSearch()],
    ['mcpServers', async () => checkMcpServers(await configured(), cwd)],
    ['programs', async () => checkPrograms(await configured(), cwd)],
    ['skills', async () => checkSkills(await configured(), { home, cwd, userHome })],
    ['trust', async () => checkTrust(await configured())],
    ['proxies', () => checkProxies(env)],
  ];
  const open = new Set(checks.map(([name]) => name));
  const run = async (
    name: DoctorCheck['name'],
    check: () => DoctorCheck | Promise<DoctorCheck>,
  ) => {
    const result = await runCheck(name, check, systemClock);
    open.delete(name);
    onProgress([...open].map((each) => TITLES[each]));
    return result;
  };
  try {
    return await Promise.all(checks.map(([name, check]) => run(name, check)));
  } finally {
    // Also closes the sandbox.
    await processes.close();
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  }
}

/** Without a configuration, the other checks go on. */
async function readConfig(sources: ConfigSources): Promise<CheckedConfig> {
  let config: CheckedConfig['config'] = null;
  const check = async () => {
    const read = await checkConfig(sources);
    config = read.config;
    return read.check;
  };
  return { check: await runCheck('configuration', check, systemClock), config };
}

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
  programs: 'Programs',
  skills: 'Skills',
  trust: 'Folders in [projects]',
  proxies: 'Proxies and certificates',
};

function shown(checks: readonly DoctorCheck[], isWell: boolean): string {
  const parts = checks.map(
    ({ name, summary, problems }) =>
      `${TITLES[name]}: ${line(summary)}\n${problems.map(shownProblem).join('')}`,
  );
  const count = checks.flatMap(({ problems }) => problems).length;
  const end =
    count === 0
      ? 'No problems were found.'
      : `${count} ${count === 1 ? 'problem was' : 'problems were'} found${isWell ? ', but no error' : ''}.`;
  return `${parts.join('')}\n${end}\n`;
}

function shownProblem({ severity, message, fix }: DoctorProblem): string {
  const first = `  ${severity}: ${line(message)}\n`;
  return fix === null ? first : `${first}    To do: ${line(fix)}\n`;
}

function line(text: string): string {
  return showText(text.replace(/\s*\n\s*/g, ' '));
}
