import { isWithin } from '../../base/paths/is-within.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../places/real-bounds.ts';
import { type Installation, serverPlaces } from '../places/server-places.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { requirePlainPaths } from '../require-plain-paths.ts';
import type { ConfinedCommand, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
import { splitEnvironment } from '../split-environment.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

const PROBLEM = 'Commands cannot be sandboxed: /usr/bin/sandbox-exec is missing. It is a part of macOS.';

/** Returns the sandbox of macOS. */
export function createSeatbelt({ installation }: { installation: Installation }): Sandbox {
  let found: readonly string[] | null = null;
  const places = () => {
    found ??= serverPlaces(installation);
    return found;
  };
  return {
    async available() {
      return sandboxProgram('darwin') !== null ? { name: 'seatbelt' } : { problem: PROBLEM };
    },
    async prepare() {},
    async tidy() {},
    async close() {},
    async protects() {
      return (path) => places().some((place) => isWithin(path, place));
    },
    async confine(command, bounds) {
      const program = sandboxProgram('darwin');
      if (program === null) throw new SandboxUnavailableError(PROBLEM);
      return confine(program.path, { command, bounds, places: places() });
    },
  };
}

interface ConfineOptions {
  command: ConfinedCommand;
  bounds: SandboxBounds;
  places: readonly string[];
}

function confine(program: string, { command, bounds, places }: ConfineOptions): Confinement {
  requirePlainPaths(command, bounds);
  const { kept, moved } = splitEnvironment(command.env);
  const set = moved.length === 0 ? [] : ['/usr/bin/env', ...moved.map(([name, value]) => `${name}=${value}`)];
  return {
    argv: [program, '-p', seatbeltProfile(realBounds(bounds).bounds, places), ...set, ...command.argv],
    env: kept,
    files: [],
    release: async () => {},
  };
}
