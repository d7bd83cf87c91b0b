import { systemClock } from '../../base/clock.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { Listeners } from '../listeners.ts';
import { LocalListeners } from '../local-listeners.ts';
import { type FoundHidden, findHidden } from '../places/find-hidden.ts';
import { linksToRoots } from '../places/links-to-roots.ts';
import { PROTECTED, protectedAs } from '../places/protected-as.ts';
import { realBounds } from '../places/real-bounds.ts';
import { type Installation, serverPlaces } from '../places/server-places.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { proxyEnvironment } from '../proxy-environment.ts';
import { requirePlainPaths } from '../require-plain-paths.ts';
import type { ConfinedCommand, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
import { type KnownFile, ServerPrograms } from '../server-programs/server-programs.ts';
import { splitEnvironment } from '../split-environment.ts';
import { listenForCommand } from './listen-for-command.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

const PROBLEM =
  'Commands cannot be sandboxed: /usr/bin/sandbox-exec is missing. It is a part of macOS.';

export interface SeatbeltDeps {
  installation: Installation;
  /** The programs that the server starts outside the sandbox. Default: none. */
  serverPrograms?: ServerPrograms;
  /** Makes the listeners of commands' proxies, by default in this thread. */
  listeners?: Listeners | undefined;
  /** Replaces the program of the system. */
  program?: string;
}

/** Returns the sandbox of macOS. */
export function createSeatbelt({
  installation,
  listeners,
  program = sandboxProgram('darwin')?.path,
  ...deps
}: SeatbeltDeps): Sandbox {
  const { serverPrograms = new ServerPrograms({ clock: systemClock, env: {} }) } = deps;
  let found: readonly string[] | null = null;
  const places = () => {
    found ??= serverPlaces(installation);
    return found;
  };
  return {
    async available() {
      return program !== undefined ? { name: 'seatbelt' } : { problem: PROBLEM };
    },
    async prepare() {},
    async tidy() {},
    async close() {},
    async protects(bounds) {
      const programFiles = await serverPrograms.files();
      const hidden = await findHidden(realBounds(bounds).bounds.hidden ?? []);
      const closed = [...places(), ...hidden.map(({ path }) => path)];
      return (path) =>
        protectedAs(path, { bounds, programFiles }) ??
        (closed.some((place) => isWithin(path, place)) ? PROTECTED : null);
    },
    // The profile protects paths whether they exist or not.
    async refusal() {
      return null;
    },
    async isExposed() {
      return false;
    },
    async programsChanged() {},
    async confine(command, bounds) {
      if (program === undefined) throw new SandboxUnavailableError(PROBLEM);
      requirePlainPaths(command, bounds);
      const { serve } = command;
      const proxy =
        bounds.managedNetwork === true && serve !== undefined
          ? await listenForCommand(listeners ?? new LocalListeners(systemClock), serve)
          : null;
      try {
        const ofPrograms = await serverPrograms.files();
        const hidden = {
          places: await findHidden(realBounds(bounds).bounds.hidden ?? []),
          links: linksToRoots(bounds),
        };
        return confine(program, {
          command,
          bounds,
          places: [...places(), ...pathsOf(ofPrograms, bounds)],
          hidden,
          proxy,
        });
      } catch (error) {
        proxy?.close();
        throw error;
      }
    },
  };
}

/** The paths and links that lead to files, except in folders that the user has left out. */
function pathsOf(files: readonly KnownFile[], { unprotected }: SandboxBounds): string[] {
  const open = unprotected.map(resolveLinks);
  const closed = files.filter(({ end }) => !open.some((folder) => isWithin(end, folder)));
  return [...new Set(closed.flatMap(({ end, links }) => [end, ...links]))];
}

interface ConfineOptions {
  command: ConfinedCommand;
  bounds: SandboxBounds;
  places: readonly string[];
  hidden: FoundHidden;
  /** Null: it has none. */
  proxy: Awaited<ReturnType<typeof listenForCommand>> | null;
}

function confine(
  program: string,
  { command, bounds, places, hidden, proxy }: ConfineOptions,
): Confinement {
  const { kept, moved } = splitEnvironment(
    proxy === null
      ? command.env
      : proxyEnvironment(command.env, { ...proxy, hostLoopback: bounds.hostLoopback }),
  );
  const set =
    moved.length === 0 ? [] : ['/usr/bin/env', ...moved.map(([name, value]) => `${name}=${value}`)];
  return {
    argv: [
      program,
      '-p',
      seatbeltProfile(realBounds(bounds).bounds, places, hidden),
      ...set,
      ...command.argv,
    ],
    env: kept,
    files: [],
    takesTerminal: false,
    release: async () => proxy?.close(),
  };
}
