import { closeSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { Once } from '../../base/loading/once.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { Listeners } from '../listeners.ts';
import { LocalListeners } from '../local-listeners.ts';
import { GuardList } from '../places/guard-list.ts';
import { GuardedPlaces } from '../places/guarded-places.ts';
import { NestedNames } from '../places/nested-names.ts';
import { PROTECTED, protectedAs } from '../places/protected-as.ts';
import { type Installation, serverPlaces } from '../places/server-places.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import type { ConfinedCommand, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
import type { ServerProgram } from '../server-programs/server-program.ts';
import { ServerPrograms } from '../server-programs/server-programs.ts';
import { nearestKind } from './bubblewrap-mounts.ts';
import { confineCommand } from './confine-command.ts';
import { inheritedFiles } from './inherited-files.ts';
import { checkedMountFirst, type MountFirst } from './mount-first.ts';
import { type NetworkLease, NetworkNamespaces } from './network-namespaces.ts';
import { type NetworkNamespace, type PrepareDeps, prepareNamespace } from './prepare-namespace.ts';
import { type ProbeResult, probeBubblewrap } from './probe-bubblewrap.ts';
import { RunningViews } from './running-views.ts';
import { sandboxView, type ViewDeps } from './sandbox-view.ts';
import { SeccompFiles } from './seccomp-files.ts';

export interface BubblewrapDeps {
  /** The processor, as Node names it. */
  arch: string;
  /** heddle's home. No confined process can write to it. */
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
  /** The programs that the server starts outside the sandbox. Default: none. */
  serverPrograms?: ServerPrograms;
  /** The system's folders for everyone's temporary files. */
  sharedFolders?: readonly string[];
  /** Replaces the installed bubblewrap. Null: none is installed. */
  program?: string | null;
  /** Makes the listeners of commands' proxies, by default in this thread. */
  listeners?: Listeners | undefined;
}

const SHARED_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * Returns the sandbox of Linux: bubblewrap with a seccomp filter. It is checked at first use
 * whether it works.
 */
export function createBubblewrap(deps: BubblewrapDeps): Sandbox {
  return new Bubblewrap(deps);
}

class Bubblewrap implements Sandbox {
  readonly #deps: BubblewrapDeps;
  readonly #serverPrograms: ServerPrograms;
  readonly #filters: SeccompFiles;
  readonly #namespaces: NetworkNamespaces;
  readonly #mountsFirst: Once<MountFirst | null>;
  readonly #probed = new Once(() => this.#probe());
  /** Null: no view was needed yet. */
  #looked: ViewDeps | null = null;
  #inherited: readonly number[] | null = null;

  constructor(deps: BubblewrapDeps) {
    const { arch, home, clock, installation, listeners = new LocalListeners(clock) } = deps;
    this.#deps = deps;
    this.#serverPrograms = deps.serverPrograms ?? new ServerPrograms({ clock, env: {} });
    this.#filters = new SeccompFiles(arch, home);
    const prepare = preparer(() => ({
      bubblewrap: this.#program ?? '',
      node: installation.executable,
      listeners,
      home,
    }));
    this.#namespaces = new NetworkNamespaces({ clock, prepare });
    this.#mountsFirst = checkedMountFirst(() => this.#program, home);
  }

  async available() {
    const result = await this.#probed.get();
    return 'problem' in result ? result : { name: 'bubblewrap' };
  }

  async prepare({ managedNetwork }: SandboxBounds): Promise<void> {
    if (managedNetwork === true && !('problem' in (await this.#probed.get())))
      this.#namespaces.prepareAhead();
  }

  async tidy(): Promise<void> {
    this.#looked?.guardedPlaces.tidy();
  }

  async close(): Promise<void> {
    this.#namespaces.close();
    this.#looked?.guardedPlaces.close();
  }

  protects(bounds: SandboxBounds) {
    return protection(bounds, this.#viewDeps);
  }

  refusal(program: ServerProgram): Promise<string | null> {
    return this.#serverPrograms.refusal(program, commandsOf(this.#viewDeps));
  }

  isExposed(program: ServerProgram): Promise<boolean> {
    return this.#serverPrograms.isExposed(program, commandsOf(this.#viewDeps));
  }

  async programsChanged(): Promise<void> {
    if (this.#looked?.runningViews.isEmpty === false)
      await this.#serverPrograms.note(commandsOf(this.#looked));
  }

  async confine(command: ConfinedCommand, bounds: SandboxBounds): Promise<Confinement> {
    const result = await this.#probed.get();
    if ('problem' in result) throw new SandboxUnavailableError(result.problem);
    this.#inherited ??= inheritedFiles();
    const filter = this.#filters.open(bounds.unixSockets);
    let lease: NetworkLease | null = null;
    try {
      lease = await this.#namespaces.takeFor(command, bounds);
      return await confineCommand({
        command,
        bounds,
        program: result.program,
        home: this.#deps.home,
        filter,
        inherited: this.#inherited,
        view: this.#viewDeps,
        lease,
        mountsFirst: this.#mountsFirst,
      });
    } catch (error) {
      closeSync(filter);
      lease?.release();
      throw error;
    }
  }

  get #program(): string | null {
    const { program } = this.#deps;
    return program === undefined ? (sandboxProgram('linux')?.path ?? null) : program;
  }

  get #viewDeps(): ViewDeps {
    this.#looked ??= viewDeps(this.#deps, this.#serverPrograms);
    return this.#looked;
  }

  async #probe(): Promise<ProbeResult> {
    const result = await probeBubblewrap({
      program: this.#program,
      home: this.#deps.home,
      view: this.#viewDeps,
      filters: this.#filters,
    });
    // The user may install or allow it while the server runs.
    if ('problem' in result) this.#probed.forget();
    return result;
  }
}

function viewDeps(deps: BubblewrapDeps, serverPrograms: ServerPrograms): ViewDeps {
  const { clock, home, storeDir, installation, userHome, guardLists = null } = deps;
  const shared = (deps.sharedFolders ?? SHARED_FOLDERS).map(realPathOrSame);
  const list = new GuardList(guardLists);
  return {
    guardedPlaces: new GuardedPlaces({ clock, shared, list }),
    nestedNames: new NestedNames(clock),
    runningViews: new RunningViews(),
    serverPlaces: [
      ...serverPlaces(installation),
      ...(storeDir === home ? [] : [storeDir]),
      ...list.places(),
    ],
    serverPrograms,
    sharedFolders: shared,
    userHome,
  };
}

/** See `Sandbox.protects`. */
async function protection(
  bounds: SandboxBounds,
  deps: ViewDeps,
): Promise<(path: string) => string | null> {
  const { view, notFollowed, programFiles, release } = await sandboxView(bounds, deps, {
    isRun: false,
  });
  await release();
  const isKept = (path: string) => {
    const kind = nearestKind(path, view.places);
    return (
      (kind !== undefined && kind !== 'write') ||
      deps.serverPlaces.some((place) => isWithin(path, place))
    );
  };
  return (path) => {
    if ([...notFollowed.keys()].some((left) => isWithin(path, resolveLinks(left))))
      return PROTECTED;
    return protectedAs(path, { bounds, programFiles }) ?? (isKept(path) ? PROTECTED : null);
  };
}

/** The places that running commands can write, and those that are only kept from them. */
function commandsOf({ runningViews, guardedPlaces }: ViewDeps) {
  return {
    canWrite: (paths: readonly string[]) => runningViews.canWrite(paths),
    isGuard: (path: string) => guardedPlaces.isGuard(path),
  };
}

/** Makes network namespaces, and checks with the first whether programs can enter them. */
function preparer(deps: () => Omit<PrepareDeps, 'isChecked'>): () => Promise<NetworkNamespace> {
  let wasEntered = false;
  return async () => {
    const namespace = await prepareNamespace({ ...deps(), isChecked: !wasEntered });
    wasEntered = true;
    return namespace;
  };
}
