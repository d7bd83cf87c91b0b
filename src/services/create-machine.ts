import { arch } from 'node:os';
import { ThreadPrograms } from '../agent/settings/thread-programs.ts';
import { createSandbox } from '../sandbox/create-sandbox.ts';
import { guardListsFolder } from '../sandbox/places/guard-list.ts';
import { createProcesses } from '../sandbox/processes/create-processes.ts';
import { ServerPrograms } from '../sandbox/server-programs/server-programs.ts';
import { sweepAtStart } from '../sandbox/sweep-at-start.ts';
import { localProxies } from '../tools/command/network/local-proxies.ts';
import { RemoteProxies } from '../tools/command/network/worker/remote-proxies.ts';
import { createShellExports } from '../tools/command/snapshot/create-shell-exports.ts';
import type { AppParts } from './app-parts.ts';
import type { Front } from './front.ts';

/** The processes of the server and of commands, with their sandbox and proxies. */
export function createMachine(options: AppParts, front: Front) {
  const { home, cwd, env, storeDir = home } = options;
  const { clock, log, pace } = front;
  const { proxies, listeners } = createProxies(options, front);
  const serverPrograms = new ServerPrograms({ clock, env });
  const guardLists = guardListsFolder(env);
  const own = { storeDir, userHome: env.HOME ?? null, guardLists };
  const sandbox = createSandbox({
    ...options,
    ...own,
    arch: arch(),
    clock,
    serverPrograms,
    listeners,
  });
  const swept = options.pacing === undefined ? sweepAtStart(guardLists, log) : Promise.resolve();
  const processes = pace.processes(createProcesses({ ...options, log, sandbox }));
  const programs = new ThreadPrograms({ sandbox, log, env, cwd });
  serverPrograms.listBy(() => programs.all());
  const start = {
    env,
    isSimulated: options.pacing !== undefined,
    isRead: options.readsShellExports ?? true,
  };
  const shellExports = createShellExports(start, { processes, clock, log });
  const machine = { processes, sandbox, proxies, shellExports, home, cwd, env };
  return { machine, programs, swept };
}

/** The services that run programs, and those that confine them. */
export type MachineServices = ReturnType<typeof createMachine>;

/** The proxies of commands. Their worker starts when a command first needs one. */
function createProxies({ dial }: AppParts, { workerScript, clock, log }: Front) {
  if (workerScript === null) return { proxies: localProxies({ clock, log, dial }) };
  const proxies = new RemoteProxies({ script: workerScript, log });
  return { proxies, listeners: proxies };
}
