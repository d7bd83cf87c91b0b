import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { GuardedPlaces } from '../places/guarded-places.ts';
import { NestedNames } from '../places/nested-names.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { requirePlainPaths } from '../require-plain-paths.ts';
import type { ConfinedCommand, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
import { splitEnvironment } from '../split-environment.ts';
import { bubblewrapMounts } from './bubblewrap-mounts.ts';
import { bubblewrapProblem } from './bubblewrap-problem.ts';
import { closeInheritedFiles, type InheritedFiles } from './inherited-files.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';
import { requireFolder } from './require-folder.ts';
import { sandboxView, type ViewDeps } from './sandbox-view.ts';
import { seccompFilter } from './seccomp-filter.ts';

export interface BubblewrapDeps {
  /** The processor, as Node names it. */
  arch: string;
  /** heddle's home. No confined process can write to it. */
  home: string;
  clock: Clock;
  /** Replaces the installed bubblewrap. Null: none is installed. */
  program?: string | null;
}

const ALWAYS = [
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
];
const FILTER_FD = 3;
const PROBE_TIMEOUT_MS = 10_000;

/** Returns the sandbox of Linux: bubblewrap with a seccomp filter. It is checked at first use whether it works. */
export function createBubblewrap({ arch, home, clock, program }: BubblewrapDeps): Sandbox {
  const filters = new Map<boolean, number>();
  let looked: ViewDeps | null = null;
  let inherited: InheritedFiles | null = null;
  let probed: Promise<ProbeResult> | null = null;

  function viewDeps(): ViewDeps {
    looked ??= { guardedPlaces: new GuardedPlaces(), nestedNames: new NestedNames(clock) };
    return looked;
  }

  const found = () => (program === undefined ? (sandboxProgram('linux')?.path ?? null) : program);

  function probe(): Promise<ProbeResult> {
    probed ??= probeBubblewrap({ program: found(), home, view: viewDeps(), openFilter: () => openFilter(false) }).then((result) => {
      // The user may install or allow it while the server runs.
      if ('problem' in result) probed = null;
      return result;
    });
    return probed;
  }

  /** Opens the filter again for each command: each has to read it from the start. */
  function openFilter(network: boolean): number {
    let kept = filters.get(network);
    if (kept === undefined) {
      const filter = seccompFilter({ arch, network });
      if (filter === null) throw new SandboxUnavailableError(`Commands cannot be sandboxed on this processor (${arch}).`);
      kept = keepFilter(home, filter);
      filters.set(network, kept);
    }
    return openSync(`/proc/self/fd/${kept}`, 'r');
  }

  return {
    async available() {
      const result = await probe();
      return 'problem' in result ? result : { name: 'bubblewrap' };
    },
    async confine(command, bounds) {
      const result = await probe();
      if ('problem' in result) throw new SandboxUnavailableError(result.problem);
      inherited ??= closeInheritedFiles();
      const filter = openFilter(bounds.network);
      try {
        return await confine({ command, bounds, program: result.program, filter, inherited, view: viewDeps() });
      } catch (error) {
        closeSync(filter);
        throw error;
      }
    },
  };
}

type ProbeResult = { program: string } | { problem: string };

interface ConfineOptions {
  command: ConfinedCommand;
  bounds: SandboxBounds;
  program: string;
  filter: number;
  inherited: InheritedFiles;
  view: ViewDeps;
}

async function confine({ command, bounds, program, filter, inherited, view: deps }: ConfineOptions): Promise<Confinement> {
  requirePlainPaths(command, bounds);
  const built = await sandboxView(bounds, deps);
  const { view, release } = built;
  try {
    requireFolder(command.cwd, built);
  } catch (error) {
    release();
    throw error;
  }
  const { kept, moved } = splitEnvironment(command.env);
  const argv = [
    program,
    ...ALWAYS,
    ...inherited.options,
    ...(bounds.network ? [] : ['--unshare-net']),
    ...(command.terminal ? [] : ['--new-session']),
    ...bubblewrapMounts(view),
    ...moved.flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', command.cwd, '--seccomp', String(FILTER_FD), '--', ...command.argv],
  ];
  return {
    ...(command.terminal
      ? { argv: [...inherited.before, ...withFilter(filter, argv)], files: [] }
      : { argv: [...inherited.before, ...argv], files: [filter] }),
    env: kept,
    async release() {
      closeSync(filter);
      release();
    },
  };
}

/** A process in a terminal does not inherit the filter, so a shell opens it before it runs bubblewrap. */
function withFilter(filter: number, argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', `exec "$@" ${FILTER_FD}<"$0"`, `/proc/${readProcLink('/proc/self')}/fd/${filter}`, ...argv];
}

function keepFilter(home: string, filter: Buffer): number {
  try {
    return makeUnnamedFile(home, filter);
  } catch (error) {
    throw new SandboxUnavailableError(
      `Commands cannot be sandboxed: a file that the sandbox needs cannot be created in ${home}: ${String(error)}`,
      { cause: error },
    );
  }
}

interface ProbeOptions {
  program: string | null;
  home: string;
  view: ViewDeps;
  openFilter: () => number;
}

async function probeBubblewrap({ program, home, view: deps, openFilter }: ProbeOptions): Promise<ProbeResult> {
  if (program === null) return { problem: bubblewrapProblem('missing') };
  const filter = openFilter();
  try {
    const { view } = await sandboxView({ readable: 'everything', writableRoots: [], network: false, workspace: [], home }, deps);
    const args = [...ALWAYS, '--unshare-net', '--new-session', ...bubblewrapMounts(view), '--seccomp', String(FILTER_FD), '--', 'true'];
    const [shell = '', ...rest] = withFilter(filter, [program, ...args]);
    await promisify(execFile)(shell, rest, { env: { PATH: '/usr/bin:/bin' }, timeout: PROBE_TIMEOUT_MS });
    return { program };
  } catch (error) {
    return { problem: bubblewrapProblem(error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)) };
  } finally {
    closeSync(filter);
  }
}
