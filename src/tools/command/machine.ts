import type { Env } from '../../base/env.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { CommandProxies } from './command-proxies.ts';
import type { ShellExports } from './snapshot/shell-exports.ts';

/** The machine that the server runs on, with the services that run programs on it. */
export interface Machine {
  readonly processes: Processes;
  readonly sandbox: Sandbox;
  /** Opens the proxies of commands. */
  readonly proxies: CommandProxies;
  /** The variables that commands get from the user's shell. */
  readonly shellExports: ShellExports;
  /** Absolute: the folder of config.toml and the threads. */
  readonly home: string;
  /** Absolute: the default working directory of threads. */
  readonly cwd: string;
  /** The server's own environment. */
  readonly env: Env;
}
