import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { NetworkPolicy } from '../../policy/network/network-policy.ts';
import type { NamedSandbox } from '../../policy/permissions/permission-profile.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import type { Action, ActionOutcome } from '../action.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import type { CommandLimits } from './command-settings.ts';
import type { CommandProxies } from './network/command-proxies.ts';
import type { CommandSessions } from './sessions/command-sessions.ts';
import type { ShellExports } from './snapshot/shell-exports.ts';

/** The collaborators of a thread's commands. */
export interface CommandDeps {
  clock: Clock;
  /** The time of waits for commands, which can be paused. */
  waits: Pick<Clock, 'setTimer' | 'monotonic'>;
  processes: Processes;
  sessions: CommandSessions;
  /**
   * True: a call reaches only the running commands of its own turn. Absent: those of the whole
   * thread.
   */
  ownTurnOnly?: true;
  /** Heddle's home, an absolute path. */
  home: string;
  /** The server's own environment. */
  env: Env;
  /** The variables that commands get from the user's shell. */
  shell: ShellExports;
  /** The environment of commands, by what is known of the user's shell now. */
  environment(): Record<string, string>;
  limits: CommandLimits;
  /** Whether commands in this sandbox may use unix sockets. */
  unixSockets(sandbox: NamedSandbox): boolean;
  /** How the network of commands in this sandbox is managed; null: it is not. */
  network(sandbox: NamedSandbox): NetworkPolicy | null;
  /** Opens the proxies of commands. */
  proxies: CommandProxies;
  /** The folders below which protected names are not protected. */
  unprotected: readonly string[];
  /** The names of the files of profiles in the home, which no command may create. */
  profileFiles: readonly string[];
  /** The absolute paths of the folders of the skills that the model knows. */
  skillFolders(): readonly string[];
  /** If a command only applies a patch, prepares that patch. Returns null for any other command. */
  preparePatch(call: CommandCall, context: CallContext): Promise<Action | ActionOutcome | null>;
}
