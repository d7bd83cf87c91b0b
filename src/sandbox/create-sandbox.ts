import type { Clock } from '../base/clock.ts';
import { Once } from '../base/loading/once.ts';
import type { Listeners } from './listeners.ts';
import type { Installation } from './places/server-places.ts';
import { SandboxUnavailableError } from './processes/processes.ts';
import type { Sandbox } from './sandbox.ts';
import type { ServerPrograms } from './server-programs/server-programs.ts';

export interface SandboxDeps {
  platform: NodeJS.Platform;
  /** The processor, as Node names it. */
  arch: string;
  home: string;
  clock: Clock;
  /** The folder of the database. Commands cannot change it. */
  storeDir: string;
  /** The files that the server was started from. Commands cannot change them. */
  installation: Installation;
  /** The user's home folder. Null: unknown. */
  userHome: string | null;
  /**
   * The folder of the lists of guards: see `guardListsFolder`. Commands cannot change it. Default:
   * guards are not listed.
   */
  guardLists?: string | null;
  /**
   * The programs that the server starts outside the sandbox. Commands cannot change what they run.
   * Default: none.
   */
  serverPrograms?: ServerPrograms;
  /** Makes the listeners of commands' proxies, by default in this thread. */
  listeners?: Listeners | undefined;
}

/**
 * Returns the sandbox of this system. Its code is loaded at first use, and only then it is checked
 * whether it works.
 */
export function createSandbox(deps: SandboxDeps): Sandbox {
  const sandbox = new Once(() => load(deps));
  return {
    confine: async (command, bounds) => (await sandbox.get()).confine(command, bounds),
    protects: async (bounds) => (await sandbox.get()).protects(bounds),
    // Before the first command there is nothing that commands could have written.
    refusal: async (program) => (await sandbox.made)?.refusal(program) ?? null,
    isExposed: async (program) => (await sandbox.made)?.isExposed(program) ?? false,
    programsChanged: async () => (await sandbox.made)?.programsChanged(),
    prepare: async (bounds) => (await sandbox.get()).prepare(bounds),
    tidy: async () => (await sandbox.made)?.tidy(),
    close: async () => (await sandbox.made)?.close(),
    available: async () => (await sandbox.get()).available(),
  };
}

async function load({ platform, ...deps }: SandboxDeps): Promise<Sandbox> {
  if (platform === 'linux')
    return (await import('./linux/create-bubblewrap.ts')).createBubblewrap(deps);
  if (platform === 'darwin')
    return (await import('./macos/create-seatbelt.ts')).createSeatbelt(deps);
  return noSandbox(`Commands cannot be sandboxed on this system (${platform}).`);
}

function noSandbox(problem: string): Sandbox {
  return {
    async confine() {
      throw new SandboxUnavailableError(problem);
    },
    async protects() {
      return () => null;
    },
    async refusal() {
      return null;
    },
    async isExposed() {
      return false;
    },
    async programsChanged() {},
    async prepare() {},
    async tidy() {},
    async close() {},
    async available() {
      return { problem };
    },
  };
}
