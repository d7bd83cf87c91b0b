import { closeSync, existsSync, openSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import { Once } from '../../base/loading/once.ts';
import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { runToEnd } from '../../base/processes/spawn-program.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { Listeners } from '../listeners.ts';
import { LocalListeners } from '../local-listeners.ts';
import { GuardList } from '../places/guard-list.ts';
import { GuardedPlaces } from '../places/guarded-places.ts';
import { NestedNames } from '../places/nested-names.ts';
import { PROTECTED, protectedAs } from '../places/protected-as.ts';
import { type Installation, serverPlaces } from '../places/server-places.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { TAKE_TERMINAL } from '../processes/terminals.ts';
import { proxyEnvironment } from '../proxy-environment.ts';
import { requirePlainPaths } from '../require-plain-paths.ts';
import type { ConfinedCommand, Confinement, Sandbox } from '../sandbox.ts';
import { sandboxProgram } from '../sandbox-program.ts';
import { ServerPrograms } from '../server-programs/server-programs.ts';
import { splitEnvironment } from '../split-environment.ts';
import { bubblewrapMounts, nearestKind } from './bubblewrap-mounts.ts';
import { bubblewrapProblem } from './bubblewrap-problem.ts';
import { closeInherited, inheritedFiles } from './inherited-files.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';
import {
  checkedMountFirst,
  type FirstMounts,
  firstMounts,
  type MountFirst,
  TABLE_FD,
} from './mount-first.ts';
import { type NetworkLease, NetworkNamespaces } from './network-namespaces.ts';
import { type CheckedBind, checkingArgv, closeBinds, openBinds } from './open-binds.ts';
import { type NetworkNamespace, type PrepareDeps, prepareNamespace } from './prepare-namespace.ts';
import { requireFewArguments } from './require-few-arguments.ts';
import { requireShownFolder } from './require-shown-folder.ts';
import { RunningViews } from './running-views.ts';
import { type BuiltView, sandboxView, type ViewDeps } from './sandbox-view.ts';
import { seccompFilter } from './seccomp-filter.ts';

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

const ALWAYS = [
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
];
const FILTER_FD = 3;
const SETSID_PLACES = ['/usr/bin/setsid', '/bin/setsid', '/run/current-system/sw/bin/setsid'];
const SHARED_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];
const PROBE_TIMEOUT_MS = 10_000;
/**
 * At least as many as bubblewrap gets besides its settings and the command, such as those that pass
 * files.
 */
const OTHER_ARGUMENTS = 20;
/** More options are passed in a file. */
const OPTIONS_CHARS_MAX = 64 * 1024;

/**
 * Returns the sandbox of Linux: bubblewrap with a seccomp filter. It is checked at first use
 * whether it works.
 */
export function createBubblewrap({
  sharedFolders = SHARED_FOLDERS,
  ...deps
}: BubblewrapDeps): Sandbox {
  const {
    arch,
    home,
    storeDir,
    clock,
    installation,
    userHome,
    program,
    listeners = new LocalListeners(clock),
  } = deps;
  const { serverPrograms = new ServerPrograms({ clock, env: {} }), guardLists = null } = deps;
  const filters = new Map<boolean, number>();
  let looked: ViewDeps | null = null;
  let inherited: readonly number[] | null = null;

  function viewDeps(): ViewDeps {
    if (looked !== null) return looked;
    const shared = sharedFolders.map(realPathOrSame);
    const list = new GuardList(guardLists);
    looked = {
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
    return looked;
  }

  const found = () => (program === undefined ? (sandboxProgram('linux')?.path ?? null) : program);
  const prepare = preparer(() => ({
    bubblewrap: found() ?? '',
    node: installation.executable,
    listeners,
    home,
  }));
  const namespaces = new NetworkNamespaces({ clock, prepare });

  const mountsFirst = checkedMountFirst(found, home);
  const probed = new Once(async () => {
    const result = await probeBubblewrap({
      program: found(),
      home,
      view: viewDeps(),
      openFilter: () => openFilter(false),
    });
    // The user may install or allow it while the server runs.
    if ('problem' in result) probed.forget();
    return result;
  });

  /** Opens the filter again for each command: each has to read it from the start. */
  function openFilter(unixSockets: boolean): number {
    let kept = filters.get(unixSockets);
    if (kept === undefined) {
      const filter = seccompFilter({ arch, unixSockets });
      if (filter === null)
        throw new SandboxUnavailableError(
          `Commands cannot be sandboxed on this processor (${arch}).`,
        );
      kept = keepFilter(home, filter);
      filters.set(unixSockets, kept);
    }
    return openSync(`/proc/self/fd/${kept}`, 'r');
  }

  return {
    async available() {
      const result = await probed.get();
      return 'problem' in result ? result : { name: 'bubblewrap' };
    },
    async prepare({ managedNetwork }) {
      if (managedNetwork === true && !('problem' in (await probed.get())))
        namespaces.prepareAhead();
    },
    async tidy() {
      looked?.guardedPlaces.tidy();
    },
    async close() {
      namespaces.close();
      looked?.guardedPlaces.close();
    },
    protects: (bounds) => protection(bounds, viewDeps()),
    refusal: (program) => serverPrograms.refusal(program, commandsOf(viewDeps())),
    isExposed: (program) => serverPrograms.isExposed(program, commandsOf(viewDeps())),
    async programsChanged() {
      if (looked?.runningViews.isEmpty === false) await serverPrograms.note(commandsOf(looked));
    },
    async confine(command, bounds) {
      const result = await probed.get();
      if ('problem' in result) throw new SandboxUnavailableError(result.problem);
      inherited ??= inheritedFiles();
      const filter = openFilter(bounds.unixSockets);
      let lease: NetworkLease | null = null;
      try {
        lease = await namespaces.takeFor(command, bounds);
        return await confine({
          command,
          bounds,
          program: result.program,
          home,
          filter,
          inherited,
          view: viewDeps(),
          lease,
          mountsFirst,
        });
      } catch (error) {
        closeSync(filter);
        lease?.release();
        throw error;
      }
    },
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

type ProbeResult = { program: string } | { problem: string };

interface ConfineOptions {
  command: ConfinedCommand;
  bounds: SandboxBounds;
  program: string;
  home: string;
  filter: number;
  inherited: readonly number[];
  view: ViewDeps;
  /** The network namespace that it runs in. Null: one of its own, or that of the server. */
  lease: NetworkLease | null;
  /** How to make many mounts. Null: only bubblewrap makes them. */
  mountsFirst: Once<MountFirst | null>;
}

async function confine(options: ConfineOptions): Promise<Confinement> {
  const { command, bounds, view: deps } = options;
  requirePlainPaths(command, bounds);
  const built = await sandboxView(bounds, deps);
  let binds: readonly CheckedBind[] = [];
  try {
    requireShownFolder(command.cwd, built);
    const mounts = firstMounts(built.view, built.concealed);
    const mount = mounts === null ? null : await options.mountsFirst.get();
    binds = openBinds(built.unsure);
    return start(options, { built, binds, first: mounts && mount && { ...mounts, ...mount } });
  } catch (error) {
    closeBinds(binds);
    await built.release();
    throw error;
  }
}

interface Prepared {
  built: BuiltView;
  binds: readonly CheckedBind[];
  /** The mounts that are made before bubblewrap starts. Null: none. */
  first: (FirstMounts & MountFirst) | null;
}

/** Returns how to start bubblewrap with a view. The confinement owns the view and the handles. */
function start(options: ConfineOptions, { built, binds, first }: Prepared): Confinement {
  const { command, program, home, filter, inherited, lease } = options;
  const { hostLoopback } = options.bounds;
  const env =
    lease === null
      ? command.env
      : proxyEnvironment(command.env, { port: lease.port, credential: null, hostLoopback });
  const { kept, moved } = splitEnvironment(env);
  const set = first === null ? moved : Object.entries(env);
  const settings = [
    ...mainOptions(options),
    ...(first?.options ?? []),
    ...bubblewrapMounts(first?.view ?? built.view),
    ...set.flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', command.cwd, '--seccomp', String(FILTER_FD)],
  ];
  const run = checkingArgv(
    binds,
    first === null ? FILTER_FD + 1 : TABLE_FD + 1,
    command.terminal ? takingTerminal(command.argv) : command.argv,
  );
  requireFewArguments({
    count: OTHER_ARGUMENTS + settings.length + run.length,
    argv: command.argv,
    ...built,
  });
  const tables = first === null ? [] : [makeUnnamedFile(home, Buffer.from(first.table))];
  const given = [filter, ...tables, ...binds.map(({ handle }) => handle)];
  // Other users can see arguments, but not variables.
  const listFile =
    first !== null || isLong(settings)
      ? makeUnnamedFile(home, Buffer.from(settings.join('\0')))
      : null;
  const own = listFile === null ? given : [...given, listFile];
  const files = lease === null ? own : [...own, lease.info];
  const closing = closeInherited(inherited, FILTER_FD + files.length);
  const list = listFile === null ? settings : ['--args', String(FILTER_FD + given.length)];
  const info = lease === null ? [] : ['--info-fd', String(FILTER_FD + own.length)];
  const argv = [
    ...(lease?.enter ?? []),
    ...(first?.before ?? []),
    program,
    ...closing.options,
    ...info,
    ...list,
    '--',
    ...run,
  ];
  return {
    argv: [...closing.before, ...argv],
    files,
    takesTerminal: command.terminal,
    env: kept,
    closed: built.closed,
    heldLinks: built.heldLinks,
    async release(moreFollow) {
      for (const file of own) closeSync(file);
      lease?.release();
      await built.release(moreFollow);
    },
  };
}

function mainOptions({ bounds, lease }: ConfineOptions): string[] {
  return [
    ...ALWAYS,
    '--new-session',
    ...(bounds.network || lease !== null ? [] : ['--unshare-net']),
  ];
}

/** Whether the arguments are too long: the system may refuse to start a program with them. */
function isLong(options: readonly string[]): boolean {
  return options.reduce((sum, option) => sum + option.length, 0) > OPTIONS_CHARS_MAX;
}

/**
 * Makes the command the leader of the terminal's session inside the sandbox. If bubblewrap were in
 * that session, Ctrl-C would end it, and with it a command that handles Ctrl-C.
 */
function takingTerminal(argv: readonly string[]): string[] {
  const setsid = SETSID_PLACES.find((path) => existsSync(path));
  if (setsid === undefined)
    throw new SandboxUnavailableError(
      'Commands in a terminal cannot be sandboxed here: install setsid, a part of util-linux.',
    );
  return [setsid, '/bin/sh', '-c', TAKE_TERMINAL, '/proc/self/fd/0', ...argv];
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

async function probeBubblewrap({
  program,
  home,
  view: deps,
  openFilter,
}: ProbeOptions): Promise<ProbeResult> {
  if (program === null) return { problem: bubblewrapProblem('missing') };
  const filter = openFilter();
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
      ...ALWAYS,
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
