import type { Clock } from '../base/clock.ts';
import { SandboxUnavailableError } from './processes/processes.ts';
import type { Sandbox } from './sandbox.ts';

export interface SandboxDeps {
  platform: NodeJS.Platform;
  /** Node's name of the processor. */
  arch: string;
  home: string;
  clock: Clock;
}

/** This system's sandbox. Costs nothing until it is used: only then is it loaded, and found out whether it works. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  let loaded: Promise<Sandbox> | null = null;
  const sandbox = (): Promise<Sandbox> => {
    loaded ??= load(deps);
    return loaded;
  };
  return {
    confine: async (command, bounds) => (await sandbox()).confine(command, bounds),
    available: async () => (await sandbox()).available(),
  };
}

async function load({ platform, arch, home, clock }: SandboxDeps): Promise<Sandbox> {
  if (platform === 'linux') return (await import('./linux/create-bubblewrap.ts')).createBubblewrap({ arch, home, clock });
  if (platform === 'darwin') return (await import('./macos/create-seatbelt.ts')).createSeatbelt();
  return noSandbox(`Commands cannot be sandboxed on this system (${platform}).`);
}

function noSandbox(problem: string): Sandbox {
  return {
    async confine() {
      throw new SandboxUnavailableError(problem);
    },
    async available() {
      return { problem };
    },
  };
}
