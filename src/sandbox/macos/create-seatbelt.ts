import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../places/real-bounds.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { requirePlainPaths, splitEnvironment } from '../require-folder.ts';
import type { Confined, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
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
  const { kept, moved } = splitEnvironment(what.env);
  const set = moved.length === 0 ? [] : ['/usr/bin/env', ...moved.map(([name, value]) => `${name}=${value}`)];
  return {
    argv: [program, '-p', seatbeltProfile(realBounds(bounds).bounds), ...set, ...what.argv],
    env: kept,
    files: [],
    release: async () => {},
  };
}
