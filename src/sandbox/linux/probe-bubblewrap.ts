import { closeSync } from 'node:fs';
import { readProcLink } from '../../base/files/read-proc.ts';
import { runToEnd } from '../../base/processes/spawn-program.ts';
import { bubblewrapMounts } from './bubblewrap-mounts.ts';
import { bubblewrapProblem } from './bubblewrap-problem.ts';
import { ISOLATION_OPTIONS } from './confine-command.ts';
import { sandboxView, type ViewDeps } from './sandbox-view.ts';
import { FILTER_FD, type SeccompFiles } from './seccomp-files.ts';

const PROBE_TIMEOUT_MS = 10_000;

/** The path of bubblewrap, or why it does not work here, for the user. */
export type ProbeResult = { program: string } | { problem: string };

interface ProbeOptions {
  program: string | null;
  home: string;
  view: ViewDeps;
  filters: SeccompFiles;
}

/**
 * Finds out whether bubblewrap works on this system. `program`: its path; null: it is missing.
 * Rejects with a `SandboxUnavailableError` if there is no filter.
 */
export async function probeBubblewrap({
  program,
  home,
  view: deps,
  filters,
}: ProbeOptions): Promise<ProbeResult> {
  if (program === null) return { problem: bubblewrapProblem('missing') };
  const filter = filters.open(false);
  try {
    const { view } = await sandboxView(
      {
        readable: 'everything',
        writableRoots: [],
        network: false,
        unixSockets: false,
        unprotected: [],
        workspace: [],
        home,
      },
      deps,
    );
    const args = [
      ...ISOLATION_OPTIONS,
      '--unshare-net',
      '--new-session',
      ...bubblewrapMounts(view),
      '--seccomp',
      String(FILTER_FD),
      '--',
      'true',
    ];
    const script = `exec "$@" ${FILTER_FD}</proc/${readProcLink('/proc/self')}/fd/${filter}`;
    await runToEnd('/bin/sh', ['-c', script, 'heddle', program, ...args], {
      env: { PATH: '/usr/bin:/bin' },
      timeout: PROBE_TIMEOUT_MS,
    });
    return { program };
  } catch (error) {
    return {
      problem: bubblewrapProblem(
        error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error),
      ),
    };
  } finally {
    closeSync(filter);
  }
}
