import type { SandboxBounds } from '../policy/sandbox-bounds.ts';
import { requirePlainPaths, requireProgram, splitEnvironment } from './confined-checks.ts';
import { realPath } from './file-facts.ts';
import { SandboxUnavailableError } from './processes.ts';
import type { Confined, Confinement, Sandbox } from './sandbox.ts';
import { sandboxProgram } from './sandbox-program.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

const PROBLEM = 'Commands cannot be sandboxed: /usr/bin/sandbox-exec, which macOS comes with, is missing.';

/** The sandbox of macOS. */
export function createSeatbelt(): Sandbox {
  return {
    async available() {
      return sandboxProgram('darwin') !== null ? { name: 'seatbelt' } : { problem: PROBLEM };
    },
    async confine(what, bounds) {
      const program = sandboxProgram('darwin');
      if (program === null) throw new SandboxUnavailableError(PROBLEM);
      return confine(program.path, what, bounds);
    },
  };
}

function confine(program: string, what: Confined, bounds: SandboxBounds): Confinement {
  requirePlainPaths(what, bounds);
  requireProgram(what);
  const { kept, moved } = splitEnvironment(what.env);
  const set = moved.length === 0 ? [] : ['/usr/bin/env', ...moved.map(([name, value]) => `${name}=${value}`)];
  return {
    argv: [program, '-p', seatbeltProfile(realBounds(bounds)), ...set, ...what.argv],
    env: kept,
    files: [],
    release: async () => {},
  };
}

/** What is named by a link is judged by where it leads; what is not there is left out. */
function realBounds({ readable, writableRoots, network, workspace, home }: SandboxBounds): SandboxBounds {
  const real = (paths: readonly string[]) => paths.flatMap((path) => realPath(path) ?? []);
  return {
    readable: readable === 'everything' ? readable : { ...readable, roots: real(readable.roots) },
    writableRoots: real(writableRoots),
    network,
    workspace: real(workspace),
    home: realPath(home) ?? home,
  };
}
