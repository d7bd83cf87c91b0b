import { closeSync, existsSync } from 'node:fs';
import type { Once } from '../../base/loading/once.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { TAKE_TERMINAL } from '../processes/terminals.ts';
import { proxyEnvironment } from '../proxy-environment.ts';
import { requirePlainPaths } from '../require-plain-paths.ts';
import type { ConfinedCommand, Confinement } from '../sandbox.ts';
import { splitEnvironment } from '../split-environment.ts';
import { bubblewrapMounts } from './bubblewrap-mounts.ts';
import { closeInherited } from './inherited-files.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';
import { type FirstMounts, firstMounts, type MountFirst, TABLE_FD } from './mount-first.ts';
import type { NetworkLease } from './network-namespaces.ts';
import { type CheckedBind, checkingArgv, closeBinds, openBinds } from './open-binds.ts';
import { requireFewArguments } from './require-few-arguments.ts';
import { requireShownFolder } from './require-shown-folder.ts';
import { type BuiltView, sandboxView, type ViewDeps } from './sandbox-view.ts';
import { FILTER_FD } from './seccomp-files.ts';

/** The options of bubblewrap for all commands. */
export const ISOLATION_OPTIONS = [
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'],
];
const SETSID_PLACES = ['/usr/bin/setsid', '/bin/setsid', '/run/current-system/sw/bin/setsid'];
/**
 * At least as many as bubblewrap gets besides its settings and the command, such as those that pass
 * files.
 */
const OTHER_ARGUMENTS = 20;
/** More options are passed in a file. */
const OPTIONS_CHARS_MAX = 64 * 1024;

interface ConfineOptions {
  command: ConfinedCommand;
  bounds: SandboxBounds;
  program: string;
  home: string;
  /** The file of the seccomp filter. The confinement closes it. */
  filter: number;
  inherited: readonly number[];
  view: ViewDeps;
  /** The network namespace that it runs in. Null: one of its own, or that of the server. */
  lease: NetworkLease | null;
  /** How to make many mounts. Null: only bubblewrap makes them. */
  mountsFirst: Once<MountFirst | null>;
}

/**
 * Returns how to start bubblewrap with a command. Rejects as `Sandbox.confine` does; the caller
 * then closes the filter and releases the lease.
 */
export async function confineCommand(options: ConfineOptions): Promise<Confinement> {
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
    ...ISOLATION_OPTIONS,
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
